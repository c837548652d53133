import { basename, join, resolve } from 'node:path'
import { z } from 'zod'
import { sha256 } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { weightShapes } from '../transformer/weights.ts'
import { readJson } from './files.ts'
import { toFloat32 } from './floats.ts'
import type { LoadedModel } from './loaded-model.ts'
import { MalformedModelError } from './malformed-model-error.ts'
import { type FoundWeights, loadFolder } from './model-folder.ts'
import { ModelNotFoundError } from './model-not-found-error.ts'
import { checkTensors } from './parts-fit.ts'
import { openSafetensors, type SafetensorsFile } from './safetensors-file.ts'

const singleFile = 'model.safetensors'
const indexFile = 'model.safetensors.index.json'

/** A shard is a file beside the index, never a path that leads elsewhere. */
const Index = z.looseObject({
  weight_map: z.record(
    z.string(),
    z.string().refine((file) => file === basename(file), { message: 'a shard must be a plain file name' }),
  ),
})

/**
 * Loads a Hugging Face model folder: config.json, tokenizer.json, model.safetensors or its shards, and where present
 * tokenizer_config.json, generation_config.json and chat_template.jinja.
 * @throws ModelNotFoundError, MalformedModelError, MalformedSafetensorsError, MalformedTokenizerError or
 * UnsupportedModelError, all InputErrors.
 */
export function loadHuggingFace(folder: string): Promise<LoadedModel> {
  return loadFolder(folder, basename(resolve(folder)), readWeights)
}

/** Everything is checked before a weight is read; beside the weights, one tensor's bytes are in memory at a time. */
async function readWeights(folder: string, config: TransformerConfig): Promise<FoundWeights> {
  const shards = await readIndex(folder)
  const files: SafetensorsFile[] = []
  try {
    for (const name of shards ?? [singleFile]) {
      const file = await openSafetensors(join(folder, name))
      if (file === null) throw shards === null ? noWeights(folder) : missingShard(folder, name)
      files.push(file)
    }
    const found = new Map(files.flatMap((file) => [...file.tensors].map(([name, tensor]) => [name, { file, tensor }])))
    checkTensors(folder, config, new Map([...found].map(([name, { tensor }]) => [name, tensor])))
    const tensors = new Map<string, { shape: readonly number[]; data: Float32Array }>()
    for (const name of weightShapes(config).keys()) {
      const { file, tensor } = present(found.get(name), name)
      tensors.set(name, { shape: tensor.shape, data: toFloat32(name, await file.read(tensor)) })
    }
    const hashes: string[] = []
    for (const file of files) hashes.push(await file.hash())
    return { tensors, hash: sha256(hashes.join()) }
  } finally {
    for (const file of files) await file.close()
  }
}

/** The shards that the index names; null when there is no index. */
async function readIndex(folder: string): Promise<string[] | null> {
  const index = await readJson(folder, indexFile)
  if (index === null) return null
  const parsed = Index.safeParse(index)
  if (parsed.success) return [...new Set(Object.values(parsed.data.weight_map))].toSorted()
  throw new MalformedModelError(
    `${indexFile} in ${folder} is not usable: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`,
    parsed.error,
  )
}

const noWeights = (folder: string) =>
  new ModelNotFoundError(
    `There are no weights in ${folder}: neither ${singleFile} nor ${indexFile} is there.`,
    'Weights are read from safetensors only: convert .bin, .gguf or .onnx first.',
  )

const missingShard = (folder: string, file: string) =>
  new MalformedModelError(`${indexFile} in ${folder} names ${file}, which is not there.`)
