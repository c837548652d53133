import { isThere } from './files.ts'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { closest } from 'fastest-levenshtein'
import { packagedModels, packagedNames } from '../../pull/known-models.ts'
import { loadGguf } from './gguf/load-gguf.ts'
import { loadHuggingFace } from './huggingface.ts'
import type { LoadedModel } from './loaded-model.ts'
import { loadMiniMind, miniMindFolder } from './minimind.ts'
import { ModelNotFoundError } from './model-not-found-error.ts'
import { ModelUseError } from './model-use-error.ts'
import { modelsFolder, pulledPath } from './pulled-models.ts'

/** A model that is known by name, because an npm package holds it. */
interface KnownModel {
  readonly load: () => Promise<LoadedModel>
  readonly folder: () => string
}

const knownModels: ReadonlyMap<string, KnownModel> = new Map([
  ['minimind2-small', { load: loadMiniMind, folder: miniMindFolder }],
])

/**
 * Loads a model for the embedded engine.
 * @param reference a known name (`minimind2-small`), the path of a Hugging Face model folder or of a GGUF file, or the
 * name of a model that `ratchet pull` fetched (`smollm2-135m`, `owner/name`). A path goes before a name.
 * @param models the folder of pulled models.
 * @throws ModelNotFoundError when it is none of these.
 * @throws ModelUseError for a sentence model.
 */
export async function loadModel(reference: string, models: string = modelsFolder()): Promise<LoadedModel> {
  const known = knownModels.get(reference)
  if (known) return known.load()
  const pulled = pulledPath(reference, models)
  const own = await loadAt(reference)
  if (own !== null) return own
  assertLanguage(reference)
  const found = pulled === null ? null : await loadAt(pulled)
  if (found !== null) return { ...found, name: reference }
  throw notFound(reference, pulled !== null)
}

/**
 * The folder or file of a model that {@link loadModel} knows by this reference; a reference that it does not know is taken for
 * a path.
 * @throws ModelUseError for the name of a sentence model.
 */
export async function pathOfModel(reference: string, models: string = modelsFolder()): Promise<string> {
  const known = knownModels.get(reference)
  if (known) return known.folder()
  if (await isThere(reference)) return reference
  assertLanguage(reference)
  const pulled = pulledPath(reference, models)
  return pulled !== null && (await isThere(pulled)) ? pulled : reference
}

/** What has a name of ours is known by it: nothing has to lie here. */
function assertLanguage(name: string): void {
  if (packagedModels.get(name)?.use === 'sentences') throw new ModelUseError(JSON.stringify(name), 'sentences')
}

async function loadAt(path: string): Promise<LoadedModel | null> {
  const found = await placeOf(path)
  if (found === null) return null
  return found.kind === 'folder' ? loadHuggingFace(found.path) : loadGguf(found.path)
}

/** What lies at a path: a folder in the Hugging Face layout, or a GGUF file. */
export interface ModelPlace {
  readonly kind: 'folder' | 'file'
  readonly path: string
}

/**
 * What lies at a path; the GGUF file of a folder that holds one, and no model of another kind. `null` for nothing.
 * @throws ModelNotFoundError for a folder with several GGUF files.
 */
export async function placeOf(path: string): Promise<ModelPlace | null> {
  const found = await stat(path).catch(() => null)
  if (found === null) return null
  if (!found.isDirectory()) return { kind: 'file', path }
  const files = await readdir(path)
  const [gguf, ...more] = files.filter((file) => file.endsWith('.gguf'))
  if (files.includes('config.json') || gguf === undefined) return { kind: 'folder', path }
  if (more.length === 0) return { kind: 'file', path: join(path, gguf) }
  throw new ModelNotFoundError(
    `${path} holds several GGUF files: ${[gguf, ...more].join(', ')}.`,
    'Give the path of one of them, or its name after the name of the folder.',
  )
}

function notFound(reference: string, mayBePulled: boolean): ModelNotFoundError {
  const onHub = mayBePulled && /^[^/]+\/[^/]+$/.test(reference)
  const names = [...knownModels.keys(), ...packagedNames('language')]
  return new ModelNotFoundError(
    `There is no model ${JSON.stringify(reference)}: it is no known name, no folder and no file, and was not pulled.`,
    packagedModels.has(reference)
      ? `Run: npx ratchet pull ${reference}`
      : `${onHub ? `If it is a model on a hub, run: npx ratchet pull ${reference}.` : `Did you mean ${closest(reference, names)}?`} Known names: ${names.join(', ')}. Otherwise give the path of a folder with config.json, model.safetensors and tokenizer.json, or of a .gguf file.`,
  )
}
