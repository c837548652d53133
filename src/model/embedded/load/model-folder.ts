import { contentHash, sha256 } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { weightShapes } from '../transformer/weights.ts'
import { readConversation } from './conversation.ts'
import { readTransformerConfig } from './architecture/read-config.ts'
import { readJson } from './files.ts'
import type { ChatTemplate, LoadedModel } from './loaded-model.ts'
import { MalformedModelError } from './malformed-model-error.ts'
import { ModelNotFoundError } from './model-not-found-error.ts'
import { checkTensors, checkVocabulary } from './parts-fit.ts'
import { readTokenizer } from './tokenizer.ts'
import { parseTokenizer, withoutSpecialsFrom } from './tokenizer-json.ts'

/** A model's parameters as some file format held them. */
export interface FoundWeights {
  /** By Hugging Face name. */
  readonly tensors: ReadonlyMap<string, { readonly shape: readonly number[]; readonly data: Float32Array }>
  /** SHA-256 of the bytes they came from. */
  readonly hash: string
}

/** Reads the weights that lie in a folder, in one file format. */
export type WeightReader = (folder: string, config: TransformerConfig) => Promise<FoundWeights>

/**
 * Loads a folder in the Hugging Face layout; how its weights are stored is the reader's business.
 * @throws ModelNotFoundError when config.json or tokenizer.json is not there.
 * @throws MalformedModelError when the parts do not fit together.
 */
export async function loadFolder(folder: string, name: string, readWeights: WeightReader): Promise<LoadedModel> {
  const configJson = await readJson(folder, 'config.json')
  const tokenizerJson = await readJson(folder, 'tokenizer.json')
  if (configJson === null || tokenizerJson === null)
    throw new ModelNotFoundError(
      `There is no model in ${folder}: ${configJson === null ? 'config.json' : 'tokenizer.json'} is not there.`,
      'A model folder holds config.json, tokenizer.json, and model.safetensors or model.safetensors.index.json with its shards.',
    )
  const config = readTransformerConfig(configJson)
  const { json, leftOut } = withoutSpecialsFrom(config.vocabSize, parseTokenizer(tokenizerJson))
  const tokenizer = readTokenizer(json)
  checkVocabulary(folder, config, tokenizer)
  const { chatTemplate, stopTokens } = await readConversation(folder, tokenizer)
  checkTemplate(folder, config, leftOut, chatTemplate)
  const found = await readWeights(folder, config)
  checkTensors(folder, config, found.tensors)
  return {
    name,
    hash: contentHash({
      config,
      weights: found.hash,
      tokenizer: sha256(JSON.stringify(tokenizerJson)),
      chatTemplate: chatTemplate && { ...chatTemplate },
    }),
    weights: { config, tensors: neededWeights(config, found.tensors) },
    tokenizer,
    chatTemplate,
    stopTokens,
  }
}

/** A token that the model has no row for may lie in the tokenizer, but not in what the model is asked. */
function checkTemplate(
  folder: string,
  { vocabSize }: TransformerConfig,
  leftOut: readonly string[],
  template: ChatTemplate | null,
): void {
  const named = leftOut.find((spelling) => template?.source.includes(spelling))
  if (named === undefined) return
  throw new MalformedModelError(
    `The chat template in ${folder} names the token ${JSON.stringify(named)}, which lies beyond the model's vocab_size of ${vocabSize}.`,
  )
}

/** The parameters of a model among what was found, in the model's order. */
function neededWeights(config: TransformerConfig, found: FoundWeights['tensors']): Map<string, Float32Array> {
  return new Map([...weightShapes(config).keys()].map((name) => [name, present(found.get(name), name).data]))
}
