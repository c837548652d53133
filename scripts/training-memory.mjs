/**
 * The most memory that a process takes to train a LoRA of rank 16 on one sequence, in the embedded engine: what loading takes,
 * and then each step; imitation and policy gradient take turns. A process of its own for each measurement: a peak is never
 * forgotten.
 *
 *   npx tsc -b && node scripts/training-memory.mjs MODEL [TOKENS [STEPS [float32|int8]]]
 */
import { loadModel } from '../dist/model/embedded/load/index.js'
import { EmbeddedTrainer } from '../dist/model/embedded/train/embedded-trainer.js'
import { initialValues } from '../dist/model/embedded/train/initial-values.js'
import { PassSessions } from '../dist/model/embedded/train/pass-sessions.js'
import { TrainingShard } from '../dist/model/embedded/train/training-shard.js'
import { inPrecision } from '../dist/model/embedded/transformer/base-weights.js'

const [reference, count = '2048', steps = '2', precision = 'float32'] = process.argv.slice(2)
if (!reference) throw new Error('Usage: node scripts/training-memory.mjs MODEL [TOKENS [STEPS [float32|int8]]]')
const gib = () => process.resourceUsage().maxRSS / 2 ** 20
const model = inPrecision((await loadModel(reference)).weights, precision)
const loaded = gib()
const targets = ['q', 'k', 'v', 'o', 'gate', 'up', 'down']
const trained = { kind: 'lora', rank: 16, alpha: 32, targets }
const shard = new TrainingShard({
  model,
  trained,
  values: initialValues(model, trained, { seed: 1 }),
  sessions: new PassSessions(model, { threads: 2 }),
})
const trainer = new EmbeddedTrainer({ config: model.config, trained, shards: [shard], publish: () => Promise.reject() })
const all = Array.from({ length: Number(count) + 1 }, (_, i) => 100 + ((i * 7919) % 4000))
const input = all.slice(0, -1)
const sampled = { logprobs: input.map(() => -8), advantages: input.map(() => 1) }
const seconds = []
const peaksGiB = []
for (let step = 0; step < Number(steps); step++) {
  const kind = step % 2 === 0 ? 'cross_entropy' : 'cispo'
  const began = performance.now()
  await trainer.forwardBackward([{ input, target: all.slice(1), ...(kind === 'cispo' && sampled) }], { kind })
  await trainer.optimStep({ learningRate: 1e-4 })
  seconds.push((performance.now() - began) / 1000)
  peaksGiB.push(gib())
}
console.log(JSON.stringify({ tokens: Number(count), loadedGiB: loaded, peaksGiB, seconds }))
await trainer.close()
