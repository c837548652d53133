/**
 * Training throughput against PyTorch on the same model, batch and threads, interleaved step by step; as a share of the
 * machine's measured peak of matrix products; and the peak memory of both.
 *
 *   npm run build && PYTHON=VENV/bin/python node bench/training.mjs [--model 4M|26M|135M] [--kind lora|full]
 *     [--rounds 5] [--threads 2] [--workers N] [--compile]
 *
 * A batch is one group: 8 sequences of 300 shared and 100 sampled tokens, PPO loss on the sampled ones. One line a
 * figure: our tokens of data per second over PyTorch's, the median over the rounds with the least and greatest. Every
 * model and kind runs in a process of its own. Without PyTorch, ours is printed alone, and what to install.
 */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { load, memory, spread } from './figures.mjs'
import { openPeer, peakMiB } from './peers/peer.mjs'
import { matmulPeak } from './training/matmul-peak.mjs'
import { actions, group, prompt, randomModel, rank, sequences, shapes, stepFlops, workOf } from './training/work.mjs'
import { openEmbeddedEngine } from '../dist/model/embedded/engine.js'

const { values: flags } = parseArgs({
  options: {
    model: { type: 'string' },
    kind: { type: 'string' },
    precision: { type: 'string', default: 'float32' },
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string', default: '2' },
    workers: { type: 'string' },
    compile: { type: 'boolean', default: false },
  },
})
const rounds = Number(flags.rounds)
const threads = Number(flags.threads)
const models = /** @type {(keyof typeof shapes)[]} */ (Object.keys(shapes))
const kinds = /** @type {const} */ (['lora', 'full'])

const model = models.find((name) => name === flags.model)
const kind = kinds.find((name) => name === flags.kind)
if (model !== undefined && kind !== undefined) await measure(model, kind)
else
  for (const one of model === undefined ? models : [model])
    for (const way of kind === undefined ? kinds : [kind])
      execFileSync(
        process.execPath,
        [fileURLToPath(import.meta.url), ...process.argv.slice(2), '--model', one, '--kind', way],
        { stdio: 'inherit' },
      )

/** @param {keyof typeof shapes} name @param {'lora' | 'full'} kind */
async function measure(name, kind) {
  const config = shapes[name]
  // As the engine divides the cores by itself: a large model has one copy of its weights.
  const workers = Number(flags.workers ?? (name === '135M' ? 1 : threads))
  const engine = await openEmbeddedEngine({
    model: randomModel(name),
    decode: () => '',
    precision: /** @type {'float32' | 'int8'} */ (flags.precision),
    workers,
    threadsPerWorker: Math.max(1, Math.floor(threads / workers)),
  })
  const method = kind === 'lora' ? { kind, rank, alpha: 2 * rank } : { kind }
  const trainer = await engine.trainer({ method, seed: 1 })
  const given = { config, kind, rank, threads, sequences, length: prompt + actions, actions }
  const peers = []
  for (const compile of flags.compile ? [false, true] : [false]) {
    const peer = await openPeer('training_torch.py', { arguments: [JSON.stringify({ ...given, compile })], threads })
    if (peer) peers.push(peer)
  }

  const batches = { unpacked: group(config.vocabSize, false), packed: group(config.vocabSize, true) }
  const step = async (/** @type {keyof typeof batches} */ batch) => {
    const begin = performance.now()
    const { tokens } = await trainer.forwardBackward(batches[batch], { kind: 'ppo', temperature: 0.8 })
    await trainer.optimStep({ learningRate: 1e-4, gradClipNorm: 1 })
    return { seconds: (performance.now() - begin) / 1000, tokens }
  }
  await step('unpacked')
  for (const peer of peers) await peer.ask({ step: true })

  /** @type {Record<string, number[]>} */
  const rates = { unpacked: [], packed: [] }
  for (const batch of /** @type {(keyof typeof batches)[]} */ (['unpacked', 'packed'])) {
    const title = `training ${name} ${kind} ${batch} ${threads}T`
    const [ours, flops] = [/** @type {number[]} */ ([]), stepFlops(config, kind, workOf(batch === 'packed'))]
    const ratios = peers.map(() => /** @type {number[]} */ ([]))
    let computed = 0
    for (let round = 0; round < rounds; round++) {
      const { seconds, tokens } = await step(batch)
      computed = tokens.computed ?? 0
      ours.push(tokens.data / seconds)
      rates[batch]?.push(flops / seconds / 1e9)
      for (const [i, peer] of peers.entries()) ratios[i]?.push((await peer.ask({ step: true })).seconds / seconds)
    }
    const data = sequences * (prompt + actions)
    console.log(`${title}: ours ${spread(ours, 0)} tokens of data/s, ${computed} computed of ${data}, ${load()}`)
    for (const [i, peer] of peers.entries()) console.log(`${title}: ${spread(ratios[i] ?? [])}x ${peer.ready.name}`)
  }
  // Before the products that are measured next take memory of their own.
  const peaks = [`ours ${memory(peakMiB())}`, ...peers.map((peer) => `${peer.ready.name} ${memory(peer.peakMiB())}`)]
  console.log(`training ${name} ${kind}: peak memory ${peaks.join(', ')}`)
  const torch = (await peers[0]?.ask({ matmul: 2048 }))?.gflops ?? 0
  const own = await matmulPeak(threads)
  const peak = Math.max(torch, own)
  for (const [batch, rate] of Object.entries(rates)) {
    const shares = rate.map((one) => one / peak)
    console.log(
      `training ${name} ${kind} ${batch}: ${spread(shares)} of the peak of ${peak.toFixed(0)} GFLOP/s (ONNX Runtime ${own.toFixed(0)}, PyTorch ${torch.toFixed(0)}), ${load()}`,
    )
  }
  for (const peer of peers) await peer.close()
  await engine.close()
}
