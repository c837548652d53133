/**
 * Whether a device computes what the processor computes, and how fast: the embedded engine's graphs on both.
 *
 *   npm run build && node scripts/device-check.mjs --device cuda [--models 26M,135M] [--threads 2,16] [--rounds 5] [--alone]
 *
 * Agreement, first: log-probabilities and gradients of a packed group (8 sequences of 300 shared and 100 sampled tokens,
 * PPO loss) and the log-probabilities of greedy continuations, as the largest difference over the largest magnitude; and
 * whether a second run gives the same bits. Then speed: the median over the rounds, with the least and the greatest, of
 * training in tokens of data per second, optimizer included, and of sampling in tokens per second. Weights are random.
 * With `--alone` the processor's speed is not measured.
 * Ends with 1 when the largest difference exceeds 1e-3.
 */
import { parseArgs } from 'node:util'
import { openEmbeddedEngine } from '../dist/model/embedded/engine.js'
import { weightShapes } from '../dist/model/embedded/transformer/weights.js'
import { initialValues } from '../dist/model/embedded/train/initial-values.js'
import { pack } from '../dist/model/embedded/train/packing.js'
import { PassSessions } from '../dist/model/embedded/train/pass-sessions.js'
import { TrainingShard } from '../dist/model/embedded/train/training-shard.js'

const { values: flags } = parseArgs({
  options: {
    device: { type: 'string', default: 'cuda' },
    models: { type: 'string', default: '26M,135M' },
    threads: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    alone: { type: 'boolean', default: false },
  },
})
const device = /** @type {'cuda' | 'webgpu' | 'cpu'} */ (flags.device)
const rounds = Number(flags.rounds)
const [firstThreads = 2, ...moreThreads] = flags.threads.split(',').map(Number)
process.env.ORT_DISABLE_TELEMETRY ??= '1'
// As the engine sets it: float32 products with all their bits.
process.env.NVIDIA_TF32_OVERRIDE ??= '0'

const common = { ropeTheta: 1e6, rmsNormEps: 1e-5, maxPositions: 2048, tiedHead: true, headDim: 64 }
const shapes = {
  '4M': { vocabSize: 4096, hiddenSize: 256, intermediateSize: 704, layers: 4, heads: 4, kvHeads: 2, ...common },
  // MiniMind2-small, the bundled model.
  '26M': { vocabSize: 6400, hiddenSize: 512, intermediateSize: 1408, layers: 8, heads: 8, kvHeads: 2, ...common },
  // SmolLM2-135M.
  '135M': { vocabSize: 49152, hiddenSize: 576, intermediateSize: 1536, layers: 30, heads: 9, kvHeads: 3, ...common },
  // SmolLM2-360M.
  '360M': { vocabSize: 49152, hiddenSize: 960, intermediateSize: 2560, layers: 32, heads: 15, kvHeads: 5, ...common },
}
const methods = /** @type {const} */ ({ lora: { kind: 'lora', rank: 16, alpha: 32 }, full: { kind: 'full' } })
const targets = /** @type {const} */ (['q', 'k', 'v', 'o', 'gate', 'up', 'down'])
const loss = { kind: /** @type {const} */ ('ppo'), clipLow: 0.2, clipHigh: 0.2, temperature: 0.8 }

/** A fixed stream of numbers in [0, 1). */
function stream(state = 1) {
  return () => (state = (state * 1664525 + 1013904223) % 2 ** 32) / 2 ** 32
}

/** @param {keyof typeof shapes} name */
function randomModel(name) {
  const config = shapes[name]
  const random = stream()
  const tensors = [...weightShapes(config)].map(([tensor, shape]) => {
    const length = shape.reduce((product, size) => product * size, 1)
    const fill = () => (shape.length === 1 ? 1 : (random() - 0.5) * 0.07)
    return /** @type {const} */ ([tensor, Float32Array.from({ length }, fill)])
  })
  return { config, tensors: new Map(tensors) }
}

/** Eight sequences that share their first 300 tokens, with 100 sampled ones each. */
function group(/** @type {number} */ vocabulary) {
  const random = stream()
  const tokens = (/** @type {number} */ count) => Array.from({ length: count }, () => Math.floor(random() * vocabulary))
  const first = tokens(300)
  const likely = -Math.log(vocabulary)
  return Array.from({ length: 8 }, () => {
    const input = [...first, ...tokens(100)]
    const sampled = (/** @type {number} */ value) => input.map((_, position) => (position < 300 ? 0 : value))
    return { input, target: [...input.slice(1), 2], logprobs: sampled(likely), advantages: sampled(random() * 2 - 1) }
  })
}

/** @param {ArrayLike<number>} actual @param {ArrayLike<number>} expected */
function relativeError(actual, expected) {
  let [difference, magnitude] = [0, 1e-30]
  if (actual.length !== expected.length) return Number.POSITIVE_INFINITY
  for (let i = 0; i < expected.length; i++) {
    const error = Math.abs((actual[i] ?? Number.NaN) - (expected[i] ?? 0))
    difference = error > difference || Number.isNaN(error) ? error : difference
    magnitude = Math.max(magnitude, Math.abs(expected[i] ?? 0))
  }
  return difference / magnitude
}

/** @param {readonly number[]} values */
function spread(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted[Math.floor(sorted.length / 2)]
  return `${middle?.toFixed(0)} (${sorted[0]?.toFixed(0)}–${sorted.at(-1)?.toFixed(0)}, n=${sorted.length})`
}

/** Log-probabilities and gradients, twice, on a device. */
async function passes(
  /** @type {import('../dist/model/embedded/index.js').ModelWeights} */ model,
  /** @type {'lora' | 'full'} */ kind,
  /** @type {typeof device} */ where,
) {
  const trained = kind === 'lora' ? { ...methods.lora, targets } : methods.full
  const values = initialValues(model, trained, { seed: 1 })
  // A pair that is zero on one side has no gradient on the other.
  const random = stream(7)
  if (kind === 'lora') for (let i = 0; i < values.length; i++) values[i] = (random() - 0.5) * 0.07
  const shard = new TrainingShard({
    model,
    trained,
    values,
    sessions: new PassSessions(model, { threads: firstThreads, device: where }),
  })
  const plans = pack(group(model.config.vocabSize), 'ppo', { config: model.config, budget: 4096 })
  const results = []
  for (let run = 0; run < 2; run++) {
    const logprobs = []
    for (const plan of plans) logprobs.push(...(await shard.forwardBackward(plan.layOut().batch, loss)).logprobs)
    results.push({ logprobs, gradient: (await shard.takeGradient()) ?? new Float32Array(0) })
  }
  await shard.close()
  return results
}

/** Two greedy continuations of 24 tokens: the tokens and their log-probabilities. */
async function continuations(
  /** @type {import('../dist/model/embedded/index.js').ModelWeights} */ model,
  /** @type {typeof device} */ where,
) {
  const engine = await openEmbeddedEngine({
    model,
    decode: () => '',
    workers: 1,
    threadsPerWorker: firstThreads,
    device: where,
  })
  const random = stream(3)
  const prompts = [40, 75].map((length) => Array.from({ length }, () => Math.floor(random() * model.config.vocabSize)))
  const sequences = await Promise.all(
    prompts.map(async (prompt) => {
      const [sequence] = await engine.sampler.sample({
        prompt,
        adapter: null,
        params: { maxTokens: 24, temperature: 0, seed: 1 },
      })
      return { tokens: sequence?.tokens ?? [], logprobs: sequence?.logprobs ?? [] }
    }),
  )
  await engine.close()
  return sequences
}

let worst = 0
/** Tells a difference, and remembers the greatest. */
function told(/** @type {string} */ title, /** @type {number} */ error) {
  worst = Number.isNaN(error) ? Number.POSITIVE_INFINITY : Math.max(worst, error)
  return `${title} ${error.toExponential(1)}`
}

async function agreement(/** @type {keyof typeof shapes} */ name, /** @type {ReturnType<typeof randomModel>} */ model) {
  for (const kind of /** @type {const} */ (['lora', 'full'])) {
    const [expected] = await passes(model, kind, 'cpu')
    const [first, second] = await passes(model, kind, device)
    if (!expected || !first || !second) throw new Error('a run gave nothing')
    const same = relativeError(second.gradient, first.gradient)
    console.log(
      `agreement ${name} ${kind}: ${told('logprobs', relativeError(first.logprobs, expected.logprobs))}, ` +
        `${told('gradient', relativeError(first.gradient, expected.gradient))}, ` +
        `second run ${same === 0 ? 'the same bits' : `differs by ${same.toExponential(1)}`}`,
    )
  }
  const [expected, given] = [await continuations(model, 'cpu'), await continuations(model, device)]
  const errors = expected.map((one, index) => {
    const other = given[index]
    const length = one.tokens.findIndex((token, at) => token !== other?.tokens[at])
    const same = length < 0 ? one.tokens.length : length
    return { same, error: relativeError(other?.logprobs.slice(0, same) ?? [], one.logprobs.slice(0, same)) }
  })
  const shared = errors.map(({ same }) => same).join(' and ')
  console.log(
    `agreement ${name} sampling: ${told('logprobs', Math.max(...errors.map(({ error }) => error)))}, same greedy tokens: ${shared} of 24`,
  )
}

/** Tokens per second of one way to run. */
async function speed(
  /** @type {string} */ title,
  /** @type {ReturnType<typeof randomModel>} */ model,
  /** @type {typeof device} */ where,
  /** @type {number} */ threads,
) {
  // On the processor as it is best used: see docs/benchmarks.md.
  const workers = where === 'cpu' && model.config.layers < 20 ? Math.min(threads, 4) : 1
  const engine = await openEmbeddedEngine({
    model,
    decode: () => '',
    workers,
    threadsPerWorker: Math.max(1, Math.floor(threads / workers)),
    device: where,
  })
  const data = group(model.config.vocabSize)
  for (const kind of /** @type {const} */ (['lora', 'full'])) {
    const trainer = await engine.trainer({ method: methods[kind], seed: 1 })
    const parts = { pass: /** @type {number[]} */ ([]), step: /** @type {number[]} */ ([]) }
    for (let round = -1; round < rounds; round++) {
      const begin = performance.now()
      const { tokens } = await trainer.forwardBackward(data, { kind: 'ppo', temperature: 0.8 })
      const between = performance.now()
      await trainer.optimStep({ learningRate: 1e-4, gradClipNorm: 1 })
      if (round < 0) continue
      parts.pass.push((1000 * tokens.data) / (between - begin))
      parts.step.push((1000 * tokens.data) / (performance.now() - begin))
    }
    console.log(
      `training ${title} ${kind}: ${spread(parts.step)} tokens/s; without the optimizer ${spread(parts.pass)}`,
    )
  }
  const random = stream(5)
  for (const count of [1, 16, 64]) {
    const rates = []
    for (let round = -1; round < rounds; round++) {
      const prompts = Array.from({ length: count }, () =>
        Array.from({ length: 64 }, () => 3 + Math.floor(random() * 4000)),
      )
      const begin = performance.now()
      const sampled = await Promise.all(
        prompts.map((prompt, seed) =>
          engine.sampler.sample({ prompt, adapter: null, params: { maxTokens: 48, temperature: 1, seed } }),
        ),
      )
      const tokens = sampled.reduce((sum, [sequence]) => sum + (sequence?.tokens.length ?? 0), 0)
      if (round >= 0) rates.push((1000 * tokens) / (performance.now() - begin))
    }
    console.log(`sampling ${title} ${count} at once: ${spread(rates)} tokens/s`)
  }
  await engine.close()
}

for (const name of /** @type {(keyof typeof shapes)[]} */ (flags.models.split(','))) {
  const model = randomModel(name)
  await agreement(name, model)
  if (device !== 'cpu') await speed(`${name} ${device}`, model, device, firstThreads)
  for (const threads of flags.alone ? [] : [firstThreads, ...moreThreads])
    await speed(`${name} cpu ${threads}T`, model, 'cpu', threads)
}
console.log(`largest difference ${worst.toExponential(1)}`)
process.exitCode = worst <= 1e-3 ? 0 : 1
