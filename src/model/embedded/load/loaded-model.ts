import type { ModelWeights } from '../transformer/config.ts'
import type { Tokenizer } from './tokenizer.ts'

/** A model as it comes from disk: everything that sampling, training and rendering start from. */
export interface LoadedModel {
  /** How people call it: a known name, or its folder's. */
  readonly name: string
  /** Content hash of configuration, weights, tokenizer and chat template: equal hashes behave equally. */
  readonly hash: string
  readonly weights: ModelWeights
  readonly tokenizer: Tokenizer
  /** Null when the model ships none: such a model is not a chat model. */
  readonly chatTemplate: ChatTemplate | null
  /** Tokens by which the model ends its turn or its text. */
  readonly stopTokens: readonly number[]
}

/** A Jinja template that lays out a conversation, and the special tokens' spellings that it may name as variables. */
export interface ChatTemplate {
  readonly source: string
  /** For example `bos_token` → `<|im_start|>`. */
  readonly variables: Readonly<Record<string, string>>
}
