import { basename, join, resolve } from 'node:path'
import { z } from 'zod'
import { sha256 } from '../../../core/index.ts'
import { readBytes, readJson } from './files.ts'
import { toFloat32 } from './floats.ts'
import type { LoadedModel } from './loaded-model.ts'
import { MalformedModelError } from './malformed-model-error.ts'
import { MalformedSafetensorsError } from './malformed-safetensors-error.ts'
import { type FoundWeights, loadFolder } from './model-folder.ts'
import { ModelNotFoundError } from './model-not-found-error.ts'
import { readSafetensors } from './safetensors.ts'

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

async function readWeights(folder: string): Promise<FoundWeights> {
  const shards = await readIndex(folder)
  const tensors = new Map<string, { shape: readonly number[]; data: Float32Array }>()
  const hashes: string[] = []
  for (const file of shards ?? [singleFile]) {
    const bytes = await readBytes(folder, file)
    if (bytes === null) throw shards === null ? noWeights(folder) : missingShard(folder, file)
    hashes.push(sha256(bytes))
    for (const [name, stored] of readTensors(join(folder, file), bytes))
      tensors.set(name, { shape: stored.shape, data: toFloat32(name, stored) })
  }
  return { tensors, hash: sha256(hashes.join()) }
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

function readTensors(path: string, bytes: Uint8Array): ReturnType<typeof readSafetensors>['tensors'] {
  try {
    return readSafetensors(bytes).tensors
  } catch (error) {
    if (error instanceof MalformedSafetensorsError)
      throw new MalformedSafetensorsError(error.problem, { file: path, cause: error })
    throw error
  }
}
