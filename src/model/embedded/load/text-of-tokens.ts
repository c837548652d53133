import type { Tokenizer } from './tokenizer.ts'

/** What each token adds to a text, in UTF-8; `null` for special tokens, which are no text. */
export function textOfTokens(tokenizer: Tokenizer): readonly (Uint8Array | null)[] {
  const special = new Set(tokenizer.specialTokens.values())
  return Array.from({ length: tokenizer.vocabularySize }, (_, token) =>
    special.has(token) ? null : tokenizer.bytes(token),
  )
}
