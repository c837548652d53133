/**
 * What the trainer server costs over the engine in process: the same steps and samples on the same engine, in turns; then
 * the peak memory of each alone.
 *
 *   npm run build && node bench/trainer.mjs [--model minimind2-small] [--rounds 15] [--alone engine|server]
 *
 * A step is 16 sequences of 128 tokens, LoRA of rank 8, cross-entropy, optimizer included. A sample is 16 continuations of
 * 64 tokens. `--alone` runs one side only and prints its peak memory; without it both sides are started so at the end.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { load, median, memory } from './figures.mjs'
import { peakMiB } from './peers/peer.mjs'
import { openEmbeddedModel } from '../dist/model/index.js'
import { openTinkerModel } from '../dist/model/tinker/index.js'
import { startTrainer } from '../dist/trainer/index.js'

const { values: flags } = parseArgs({
  options: {
    model: { type: 'string', default: 'minimind2-small' },
    rounds: { type: 'string', default: '15' },
    alone: { type: 'string' },
  },
})
const rounds = Number(flags.rounds)
const folder = mkdtempSync(join(tmpdir(), 'ratchet-bench-trainer-'))
const { service: engine } = await openEmbeddedModel({ reference: flags.model })
const server = flags.alone === 'engine' ? null : await startServer()
const client = server === null ? null : await openClient(server.url)

const method = { kind: 'lora', rank: 8, alpha: 32, targets: ['q', 'k', 'v', 'o', 'gate', 'up', 'down', 'lm_head'] }
const { vocabularySize } = engine.sampler.capabilities
let state = 1
const randomTokens = (length) =>
  Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return 3 + (state % (vocabularySize - 3))
  })
const lesson = () => {
  const tokens = randomTokens(129)
  return { input: tokens.slice(0, -1), target: tokens.slice(1) }
}

const sides = new Map()
if (flags.alone !== 'server') sides.set('engine', { sampler: engine.sampler, trainer: await engine.trainer(method, 1) })
if (client !== null) {
  const trainer = await client.trainer({ kind: 'lora', rank: 8, alpha: 32 }, 1)
  sides.set('server', { sampler: client.sampler, trainer })
}
const times = { step: { engine: [], server: [] }, sample: { engine: [], server: [] } }
const timed = async (into, work) => {
  const began = performance.now()
  await work()
  into.push(performance.now() - began)
}
for (let round = -2; round < rounds; round++) {
  const data = Array.from({ length: 16 }, lesson)
  const order = round % 2 === 0 ? ['engine', 'server'] : ['server', 'engine']
  for (const side of order.filter((name) => sides.has(name))) {
    const { sampler, trainer } = sides.get(side)
    const [step, sample] = round < 0 ? [[], []] : [times.step[side], times.sample[side]]
    await timed(step, async () => {
      await trainer.forwardBackward(data, { kind: 'cross_entropy' })
      await trainer.optimStep({ learningRate: 1e-5 })
    })
    // A prompt of its own: of one that the other side has sampled from, the engine still has the keys and values.
    const request = { prompt: randomTokens(64), adapter: null, samples: 16 }
    const params = { maxTokens: 64, temperature: 1, seed: round + 2 }
    await timed(sample, () => sampler.sample({ ...request, params }))
  }
}
if (flags.alone === undefined) {
  for (const [what, { engine: own, server: served }] of Object.entries(times)) {
    const ratios = served.map((time, i) => time / own[i]).toSorted((a, b) => a - b)
    const [low, high] = [ratios[Math.floor(ratios.length / 4)], ratios[Math.floor((3 * ratios.length) / 4)]]
    console.log(
      `${what} ${flags.model}: engine ${median(own).toFixed(0)} ms, server ${median(served).toFixed(0)} ms, ratio ${median(ratios).toFixed(3)} (quartiles ${low.toFixed(3)} to ${high.toFixed(3)}, n = ${ratios.length}), ${load()}`,
    )
  }
} else console.log(`peak memory ${flags.model}, ${flags.alone}: ${memory(peakMiB())}`)
await client?.close()
await server?.close()
await engine.close()
rmSync(folder, { recursive: true, force: true })
if (flags.alone === undefined)
  for (const alone of ['engine', 'server'])
    execFileSync(
      process.execPath,
      [fileURLToPath(import.meta.url), '--model', flags.model, '--rounds', '3', '--alone', alone],
      {
        stdio: 'inherit',
      },
    )

function startServer() {
  const fail = (error) => {
    throw error
  }
  return startTrainer({ service: engine, folder, host: '127.0.0.1', port: 0, onFatal: fail, onUnexpected: fail })
}

/** The client counts and lays out tokens by files of its own, which need no weights. */
async function openClient(url) {
  const own = mkdtempSync(join(folder, 'client-'))
  execFileSync(process.execPath, [fileURLToPath(new URL('models/export.mjs', import.meta.url)), flags.model, own])
  const { service } = await openTinkerModel({ url, baseModel: flags.model, folder: own })
  return service
}
