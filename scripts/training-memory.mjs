/**
 * The most memory that a process takes to train a LoRA of rank 16 on one sequence, in the embedded engine: what loading takes, and
 * then a step. A process of its own for each measurement: a peak is never forgotten.
 *
 *   npx tsc -b && node scripts/training-memory.mjs MODEL [TOKENS [STEPS]]
 */
import { loadModel } from '../dist/model/embedded/load/index.js'
import { EmbeddedTrainer } from '../dist/model/embedded/train/embedded-trainer.js'
import { initialValues } from '../dist/model/embedded/train/initial-values.js'
import { TrainingShard } from '../dist/model/embedded/train/training-shard.js'

const [reference, count = '2048', steps = '2'] = process.argv.slice(2)
if (!reference) throw new Error('Usage: node scripts/training-memory.mjs MODEL [TOKENS [STEPS]]')
const gib = () => process.resourceUsage().maxRSS / 2 ** 20
const { weights: model } = await loadModel(reference)
const loaded = gib()
const targets = ['q', 'k', 'v', 'o', 'gate', 'up', 'down']
const trained = { kind: 'lora', rank: 16, alpha: 32, targets }
const shard = new TrainingShard({ model, trained, values: initialValues(model, trained, { seed: 1 }), threads: 2 })
const trainer = new EmbeddedTrainer({ config: model.config, trained, shards: [shard], publish: () => Promise.reject() })
const all = Array.from({ length: Number(count) + 1 }, (_, i) => 100 + ((i * 7919) % 4000))
const seconds = []
for (let step = 0; step < Number(steps); step++) {
  const began = performance.now()
  await trainer.forwardBackward([{ input: all.slice(0, -1), target: all.slice(1) }], { kind: 'cross_entropy' })
  await trainer.optimStep({ learningRate: 1e-4 })
  seconds.push((performance.now() - began) / 1000)
}
console.log(JSON.stringify({ tokens: Number(count), loadedGiB: loaded, peakGiB: gib(), seconds }))
await trainer.close()
