import { z } from 'zod'
import { MalformedTokenizerError } from './malformed-tokenizer-error.ts'

const id = z.int().nonnegative()

/** The entries of a tokenizer.json that are read here; the others are for the library that encodes. */
export const TokenizerJson = z.looseObject({
  added_tokens: z.array(z.looseObject({ id, content: z.string().min(1), special: z.boolean() })).default([]),
  normalizer: z.unknown(),
  pre_tokenizer: z.unknown(),
  decoder: z.looseObject({ type: z.string() }),
  model: z.looseObject({ type: z.literal('BPE'), vocab: z.record(z.string(), id) }),
})
export type TokenizerJson = z.infer<typeof TokenizerJson>

/** @throws MalformedTokenizerError when it is not the content of a BPE tokenizer's file. */
export function parseTokenizer(tokenizerJson: unknown): TokenizerJson {
  const parsed = TokenizerJson.safeParse(tokenizerJson)
  if (parsed.success) return parsed.data
  throw new MalformedTokenizerError(z.prettifyError(parsed.error).replaceAll('\n', ' '), parsed.error)
}

/**
 * A tokenizer without its special tokens from an id on, and their spellings. Gemma's text models share a tokenizer with
 * larger ones that see images, and have no row for the tokens of images.
 */
export function withoutSpecialsFrom(
  size: number,
  json: TokenizerJson,
): { readonly json: TokenizerJson; readonly leftOut: readonly string[] } {
  const beyond = new Set(
    json.added_tokens.filter((token) => token.special && token.id >= size).map(({ content }) => content),
  )
  if (beyond.size === 0) return { json, leftOut: [] }
  const vocab = Object.entries(json.model.vocab).filter(([spelling, token]) => token < size || !beyond.has(spelling))
  return {
    json: {
      ...json,
      added_tokens: json.added_tokens.filter(({ content }) => !beyond.has(content)),
      model: { ...json.model, vocab: Object.fromEntries(vocab) },
    },
    leftOut: [...beyond],
  }
}
