import { z } from 'zod'
import { contentHash, type Renderer, sha256 } from '../../core/index.ts'
import { readConversation } from '../embedded/load/conversation.ts'
import { readJson } from '../embedded/load/files.ts'
import { describeGguf } from '../embedded/load/gguf/load-gguf.ts'
import { placeOf } from '../embedded/load/load-model.ts'
import type { ChatTemplate } from '../embedded/load/loaded-model.ts'
import { MalformedModelError } from '../embedded/load/malformed-model-error.ts'
import { ModelNotFoundError } from '../embedded/load/model-not-found-error.ts'
import { readTokenizer, type Tokenizer } from '../embedded/load/tokenizer.ts'
import { type RendererKind, rendererFor } from '../renderer/renderer-for.ts'

/** What this side knows of a base model whose weights are at a server. */
export interface BaseModel {
  readonly tokenizer: Tokenizer
  readonly renderer: Renderer
  readonly vocabularySize: number
  readonly contextLength: number
  /** Of the name, the tokenizer and the chat template: the weights themselves are known to the server alone. */
  readonly hash: string
}

const size = z.int().positive()
const Sizes = z.looseObject({ vocab_size: size.optional(), max_position_embeddings: size.optional() })
const Config = Sizes.extend({ text_config: Sizes.optional() })

/**
 * Reads the tokenizer, the chat template and the sizes of a model from a Hugging Face folder, where weights need not be, or from
 * a GGUF file or the folder that holds one.
 * @param path as a person gave it, or as {@link pathOfModel} found it.
 * @param name how the server calls it.
 * @throws ModelNotFoundError, MalformedModelError, MalformedTokenizerError, MalformedGgufError, UnusableTemplateError
 */
export async function readBaseModel(path: string, name: string, kind: RendererKind): Promise<BaseModel> {
  const place = await placeOf(path)
  const found = place?.kind === 'file' ? await inGguf(place.path) : await inFolder(path)
  const { tokenizer, tokenizerJson, vocabularySize, contextLength, ...conversation } = found
  const { chatTemplate } = conversation
  const hash = contentHash({
    name,
    tokenizer: sha256(JSON.stringify(tokenizerJson)),
    chatTemplate: chatTemplate && { ...chatTemplate },
  })
  const renderer = rendererFor({ name, hash, tokenizer, ...conversation }, kind)
  return { tokenizer, renderer, vocabularySize, contextLength, hash }
}

/** What is read of a base model, in whatever form it lies here. */
interface Found extends Pick<BaseModel, 'tokenizer' | 'vocabularySize' | 'contextLength'> {
  readonly tokenizerJson: unknown
  readonly chatTemplate: ChatTemplate | null
  readonly stopTokens: readonly number[]
}

async function inGguf(file: string): Promise<Found> {
  const { config, json, tokenizer, chatTemplate, stopTokens } = await describeGguf(file)
  const { vocabSize: vocabularySize, maxPositions: contextLength } = config
  return { tokenizer, tokenizerJson: json, vocabularySize, contextLength, chatTemplate, stopTokens }
}

async function inFolder(folder: string): Promise<Found> {
  const [configJson, tokenizerJson] = [await readJson(folder, 'config.json'), await readJson(folder, 'tokenizer.json')]
  if (configJson === null || tokenizerJson === null) {
    throw new ModelNotFoundError(
      `There is no model in ${folder}: ${configJson === null ? 'config.json' : 'tokenizer.json'} is not there.`,
      'Give as folder one with config.json, tokenizer.json and tokenizer_config.json of the base model, or its GGUF file; its weights stay at the server.',
    )
  }
  const config = Config.safeParse(configJson)
  const { vocab_size: vocabularySize, max_position_embeddings: contextLength } =
    config.data?.text_config ?? config.data ?? {}
  if (vocabularySize === undefined || contextLength === undefined) {
    throw new MalformedModelError(`config.json in ${folder} has no vocab_size or no max_position_embeddings.`)
  }
  const tokenizer = readTokenizer(tokenizerJson)
  return { tokenizer, tokenizerJson, vocabularySize, contextLength, ...(await readConversation(folder, tokenizer)) }
}
