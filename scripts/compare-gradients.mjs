/**
 * How far the embedded engine's LoRA gradients are from PyTorch's on a real model: of the worst tensor, the greatest difference
 * as a share of its greatest entry; of all together, the relative length of the difference.
 *
 *   python scripts/vectors/lora_gradients.py MODEL FOLDER
 *   npx tsc -b && node scripts/compare-gradients.mjs MODEL FOLDER
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadModel, readSafetensors } from '../dist/model/embedded/load/index.js'
import { EmbeddedTrainer } from '../dist/model/embedded/train/embedded-trainer.js'
import { FlatTensors } from '../dist/model/embedded/train/flat-tensors.js'
import { readTrainedWeights } from '../dist/model/embedded/train/trained-weights.js'
import { PassSessions } from '../dist/model/embedded/train/pass-sessions.js'
import { TrainingShard } from '../dist/model/embedded/train/training-shard.js'
import { trainedShapes } from '../dist/model/embedded/transformer/trained.js'

const [reference, folder] = process.argv.slice(2)
if (!reference || !folder) throw new Error('Usage: node scripts/compare-gradients.mjs MODEL FOLDER')
const { loss: expectedLoss, batch, lora, torch } = JSON.parse(await readFile(join(folder, 'batch.json'), 'utf8'))
const { weights: model } = await loadModel(reference)
const trained = { kind: 'lora', ...lora }
const values = readTrainedWeights(model.config, trained, await readFile(join(folder, 'adapter.safetensors')))
const shard = new TrainingShard({ model, trained, values, sessions: new PassSessions(model, { threads: 2 }) })
const trainer = new EmbeddedTrainer({ config: model.config, trained, shards: [shard], publish: () => Promise.reject() })
const { loss } = await trainer.forwardBackward(batch, { kind: 'cross_entropy' })
const gradient = new FlatTensors(trainedShapes(model.config, trained), await shard.takeGradient())

const expected = readSafetensors(await readFile(join(folder, 'gradients.safetensors'))).tensors
let worst = { share: 0, name: '' }
let [apart, length] = [0, 0]
for (const [name, found] of gradient.views()) {
  const other = new Float32Array(new Uint8Array(expected.get(name).data).buffer)
  let [difference, greatest] = [0, 0]
  other.forEach((value, i) => {
    difference = Math.max(difference, Math.abs(found[i] - value))
    greatest = Math.max(greatest, Math.abs(value))
    apart += (found[i] - value) ** 2
    length += value ** 2
  })
  if (!(difference / greatest <= worst.share)) worst = { share: difference / greatest, name }
}
await trainer.close()
const relative = Math.sqrt(apart / length)
console.log(JSON.stringify({ torch, tensors: expected.size, loss, expectedLoss, worst, relative }))
