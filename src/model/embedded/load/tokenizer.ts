import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers'
import { MalformedTokenizerError } from './malformed-tokenizer-error.ts'
import { type SentencePiece, sentencePieceOf, spacesMarked } from './sentencepiece.ts'
import { type TokenBytes, byteFallback, byteLevel } from './token-bytes.ts'
import { type TokenizerJson, parseTokenizer } from './tokenizer-json.ts'

/**
 * Text to token ids and back. Only BPE of bytes (byte-level, or with a fallback to bytes as Gemma's): there, the text of
 * a token does not depend on its neighbours, so that tokens can be appended to a conversation without looking at the
 * ones before.
 */
export interface Tokenizer {
  /** Every id is below this. */
  readonly vocabularySize: number
  /** Special tokens (turn markers and the like) by their spelling. */
  readonly specialTokens: ReadonlyMap<string, number>
  /** Ids of text that is data: a special token's spelling in it stays ordinary characters. Adds no tokens of its own. */
  encode(text: string): number[]
  /**
   * Ids of text in which the spelling of a special token means that token, unless it was escaped. For templates. Some
   * SentencePiece models were trained with a space before every text: it comes at its beginning, and after every special
   * token.
   * @param continues whether ordinary text stands before it: then it is no beginning. Default false.
   */
  encodeWithSpecials(text: string, continues?: boolean): number[]
  /** Marks the spellings of special tokens in text from outside, so that {@link encodeWithSpecials} reads them as data. */
  escapeSpecials(text: string): string
  /** The ids' text, special tokens by their spelling. Bytes that are not UTF-8, for example half a character, become U+FFFD. */
  decode(ids: readonly number[]): string
  /** The bytes that an id stands for; those of U+FFFD where the vocabulary has no such id. */
  bytes(id: number): Uint8Array
  /** The id of a special token, or null when the vocabulary has none of that spelling. */
  specialTokenId(spelling: string): number | null
  /** Every id whose text contains `character`, one of ASCII's. */
  idsContaining(character: string): number[]
}

/**
 * Builds a tokenizer from the content of tokenizer.json.
 * @throws MalformedTokenizerError when it is not BPE of bytes.
 */
export function readTokenizer(tokenizerJson: unknown): Tokenizer {
  const json = parseTokenizer(tokenizerJson)
  const sentencePiece = sentencePieceOf(json)
  if (sentencePiece !== null) return new BpeTokenizer(spacesMarked(json), byteFallback, sentencePiece)
  const before = JSON.stringify([json.normalizer ?? null, json.pre_tokenizer ?? null])
  if (before.includes('"add_prefix_space":true'))
    throw new MalformedTokenizerError(
      'it puts a space before every text (add_prefix_space), which appending rules out.',
    )
  if (JSON.stringify(json.decoder).includes('"ByteLevel"'))
    return new BpeTokenizer(json, byteLevel, { spaceBefore: false })
  throw new MalformedTokenizerError(
    `its decoder is ${json.decoder.type}, and only ByteLevel and, for SentencePiece, ByteFallback are supported.`,
  )
}

class BpeTokenizer implements Tokenizer {
  readonly vocabularySize: number
  readonly specialTokens: ReadonlyMap<string, number>
  /** Knows no special tokens, so that no text can spell one. */
  readonly #ordinary: HuggingFaceTokenizer
  readonly #specialPattern: RegExp | null
  /** The bytes each id stands for. */
  readonly #bytes: readonly (Uint8Array | undefined)[]
  readonly #spaceBefore: boolean

  constructor(json: TokenizerJson, spelled: TokenBytes, { spaceBefore }: SentencePiece) {
    const specials = json.added_tokens.filter(({ special }) => special)
    this.specialTokens = new Map(specials.map((token) => [token.content, token.id]))
    this.#specialPattern = anyOf([...this.specialTokens.keys()])
    this.#bytes = tokenBytes(json, spelled)
    this.#spaceBefore = spaceBefore
    this.vocabularySize = this.#bytes.length
    try {
      const added_tokens = json.added_tokens.filter(({ special }) => !special)
      this.#ordinary = new HuggingFaceTokenizer({ ...json, post_processor: null, added_tokens }, {})
    } catch (cause) {
      throw new MalformedTokenizerError(`tokenizer.json is not understood (${String(cause)}).`, cause)
    }
  }

  encode(text: string): number[] {
    return text === '' ? [] : this.#ordinary.encode(text, { add_special_tokens: false }).ids
  }

  encodeWithSpecials(text: string, continues = false): number[] {
    const parts = this.#specialPattern === null ? [text] : text.split(this.#specialPattern)
    return parts.flatMap((part, index) => {
      const special = this.specialTokens.get(part)
      if (special !== undefined) return [special]
      const begins = this.#spaceBefore && part !== '' && !(continues && index === 0)
      return this.encode((begins ? ' ' : '') + part.replaceAll(escapeMark, ''))
    })
  }

  escapeSpecials(text: string): string {
    const clean = text.replaceAll(escapeMark, '\uFFFD')
    if (this.#specialPattern === null) return clean
    const parts = clean.split(this.#specialPattern)
    return parts.map((part) => (this.specialTokens.has(part) ? part[0] + escapeMark + part.slice(1) : part)).join('')
  }

  decode(ids: readonly number[]): string {
    return utf8.decode(Buffer.concat(ids.map((token) => this.bytes(token))))
  }

  bytes(token: number): Uint8Array {
    return this.#bytes[token] ?? replacementCharacter
  }

  specialTokenId(spelling: string): number | null {
    return this.specialTokens.get(spelling) ?? null
  }

  idsContaining(character: string): number[] {
    const code = character.charCodeAt(0)
    return this.#bytes.flatMap((bytes, token) => (bytes?.includes(code) ? [token] : []))
  }
}

/** A noncharacter, which Unicode keeps out of texts: parts a special token's spelling without a trace in the result. */
const escapeMark = '\uFDD0'

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
const replacementCharacter = new TextEncoder().encode('\uFFFD')

/** Matches any of the texts, the longest first; captures it, so that `split` keeps it. */
function anyOf(texts: readonly string[]): RegExp | null {
  if (texts.length === 0) return null
  const longestFirst = texts.toSorted((a, b) => b.length - a.length)
  return new RegExp(`(${longestFirst.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')})`)
}

function tokenBytes({ model, added_tokens }: TokenizerJson, spelled: TokenBytes): Uint8Array[] {
  const bytes: Uint8Array[] = []
  for (const [spelling, token] of Object.entries(model.vocab)) bytes[token] = spelled(spelling)
  // An added token is text; where the vocabulary has it too, as Gemma's, it is spelled as the others.
  for (const { content, id } of added_tokens)
    bytes[id] = spelled === byteFallback ? spelled(content) : new TextEncoder().encode(content)
  return bytes
}
