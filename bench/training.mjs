/**
 * Training throughput against PyTorch on the same model, batch and threads, interleaved step by step.
 *
 *   npm run build && node bench/training.mjs [--model 4M|26M] [--kind lora|full] [--rounds 5] [--threads 2] [--compile]
 *
 * A batch is one group: 8 sequences of 300 shared and 100 sampled tokens, PPO loss on the sampled ones. One line a
 * figure: our tokens of data per second over PyTorch's, the median over the rounds with the least and greatest.
 * Needs `python3` with torch; without it, ours alone is printed.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openEmbeddedEngine } from '../dist/model/embedded/engine.js'
import { weightShapes } from '../dist/model/embedded/transformer/weights.js'

const { values: flags } = parseArgs({
  options: {
    model: { type: 'string' },
    kind: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string', default: '2' },
    compile: { type: 'boolean', default: false },
  },
})
const rounds = Number(flags.rounds)
const threads = Number(flags.threads)

const common = { ropeTheta: 1e6, rmsNormEps: 1e-5, maxPositions: 2048, tiedHead: true }
const models = {
  '4M': {
    vocabSize: 4096,
    hiddenSize: 256,
    intermediateSize: 704,
    layers: 4,
    heads: 4,
    kvHeads: 2,
    headDim: 64,
    ...common,
  },
  '26M': {
    vocabSize: 6400,
    hiddenSize: 512,
    intermediateSize: 1408,
    layers: 8,
    heads: 8,
    kvHeads: 2,
    headDim: 64,
    ...common,
  },
}
const prompt = 300
const actions = 100
const sequences = 8
const rank = 16

/** A fixed stream of numbers in [0, 1). */
function stream() {
  let state = 1
  return () => (state = (state * 1664525 + 1013904223) % 2 ** 32) / 2 ** 32
}

/** @param {keyof typeof models} name */
function randomModel(name) {
  const config = models[name]
  const random = stream()
  const tensors = [...weightShapes(config)].map(([tensor, shape]) => {
    const length = shape.reduce((product, size) => product * size, 1)
    const fill = () => (shape.length === 1 ? 1 : (random() - 0.5) * 0.07)
    return /** @type {const} */ ([tensor, Float32Array.from({ length }, fill)])
  })
  return { config, tensors: new Map(tensors) }
}

/**
 * One group. `shared`: all sequences begin with one prompt; else every prompt is another, and packing finds nothing.
 * @param {number} vocabulary @param {boolean} shared
 */
function group(vocabulary, shared) {
  const random = stream()
  const tokens = (/** @type {number} */ count) => Array.from({ length: count }, () => Math.floor(random() * vocabulary))
  const first = tokens(prompt)
  return Array.from({ length: sequences }, () => {
    const input = [...(shared ? first : tokens(prompt)), ...tokens(actions)]
    const sampled = (/** @type {number} */ value) => input.map((_, position) => (position < prompt ? 0 : value))
    return { input, target: [...input.slice(1), 2], logprobs: sampled(-8.7), advantages: sampled(1) }
  })
}

/**
 * PyTorch in a process of its own that steps when it is told to; null where there is none.
 * @param {object} given
 */
async function peer(given) {
  const script = fileURLToPath(new URL('peers/training_torch.py', import.meta.url))
  const child = spawn('python3', [script], {
    env: { ...process.env, OMP_WAIT_POLICY: 'passive' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.on('error', () => {})
  child.stdin.on('error', () => {})
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  child.stdin.write(`${JSON.stringify(given)}\n`)
  const { value, done } = await lines.next()
  if (done) return null
  return {
    version: JSON.parse(value).ready,
    async step() {
      child.stdin.write('step\n')
      return Number((await lines.next()).value)
    },
    close: () => child.stdin.end(),
  }
}

/** @param {number[]} values */
function spread(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted[sorted.length >> 1] ?? Number.NaN
  return `${middle.toFixed(2)} (${sorted[0]?.toFixed(2)}–${sorted.at(-1)?.toFixed(2)}, n=${sorted.length})`
}

for (const name of /** @type {(keyof typeof models)[]} */ (Object.keys(models))) {
  if (flags.model !== undefined && flags.model !== name) continue
  for (const kind of /** @type {('lora' | 'full')[]} */ (['lora', 'full'])) {
    if (flags.kind !== undefined && flags.kind !== kind) continue
    const model = randomModel(name)
    const engine = await openEmbeddedEngine({ model, decode: () => '', workers: threads, threadsPerWorker: 1 })
    const method = kind === 'lora' ? { kind, rank, alpha: 2 * rank } : { kind }
    const trainer = await engine.trainer({ method, seed: 1 })
    const given = { config: model.config, kind, rank, threads, sequences, length: prompt + actions, actions }
    const eager = await peer({ ...given, compile: false })
    const compiled = flags.compile ? await peer({ ...given, compile: true }) : null
    const batches = { unpacked: group(model.config.vocabSize, false), packed: group(model.config.vocabSize, true) }

    const step = async (/** @type {keyof typeof batches} */ batch) => {
      const begin = performance.now()
      const { tokens } = await trainer.forwardBackward(batches[batch], { kind: 'ppo', temperature: 0.8 })
      await trainer.optimStep({ learningRate: 1e-4, gradClipNorm: 1 })
      return { seconds: (performance.now() - begin) / 1000, tokens }
    }
    await Promise.all([step('unpacked'), eager?.step(), compiled?.step()])

    for (const batch of /** @type {(keyof typeof batches)[]} */ (['unpacked', 'packed'])) {
      /** @type {{ ours: number[], eager: number[], compiled: number[] }} */
      const ratios = { ours: [], eager: [], compiled: [] }
      let computed = 0
      for (let round = 0; round < rounds; round++) {
        const ours = await step(batch)
        computed = ours.tokens.computed
        ratios.ours.push(ours.tokens.data / ours.seconds)
        if (eager) ratios.eager.push((await eager.step()) / ours.seconds)
        if (compiled) ratios.compiled.push((await compiled.step()) / ours.seconds)
      }
      const title = `training ${name} ${kind} ${batch} ${threads}T`
      console.log(
        `${title}: ours ${spread(ratios.ours)} tokens of data/s, ${computed} computed of ${sequences * (prompt + actions)}`,
      )
      if (eager) console.log(`${title}: ${spread(ratios.eager)}x PyTorch ${eager.version} eager`)
      if (compiled) console.log(`${title}: ${spread(ratios.compiled)}x PyTorch ${compiled.version} compile`)
      if (!eager) console.log(`${title}: no ratio: python3 with torch was not found`)
    }
    eager?.close()
    compiled?.close()
    await engine.close()
  }
}
