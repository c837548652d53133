import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers'
import { z } from 'zod'
import { MalformedTokenizerError } from './malformed-tokenizer-error.ts'

/**
 * Text to token ids and back. Only byte-level BPE: there, the text of a token does not depend on its neighbours, so
 * that tokens can be appended to a conversation without looking at the ones before.
 */
export interface Tokenizer {
  /** Every id is below this. */
  readonly vocabularySize: number
  /** Special tokens (turn markers and the like) by their spelling. */
  readonly specialTokens: ReadonlyMap<string, number>
  /** Ids of text that is data: a special token's spelling in it stays ordinary characters. Adds no tokens of its own. */
  encode(text: string): number[]
  /** Ids of text in which the spelling of a special token means that token, unless it was escaped. For templates. */
  encodeWithSpecials(text: string): number[]
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

const id = z.int().nonnegative()
const TokenizerJson = z.looseObject({
  added_tokens: z.array(z.looseObject({ id, content: z.string().min(1), special: z.boolean() })).default([]),
  normalizer: z.unknown(),
  pre_tokenizer: z.unknown(),
  decoder: z.looseObject({ type: z.string() }),
  model: z.looseObject({ type: z.literal('BPE'), vocab: z.record(z.string(), id) }),
})

/**
 * Builds a tokenizer from the content of tokenizer.json.
 * @throws MalformedTokenizerError when it is not byte-level BPE.
 */
export function readTokenizer(tokenizerJson: unknown): Tokenizer {
  const parsed = TokenizerJson.safeParse(tokenizerJson)
  if (!parsed.success)
    throw new MalformedTokenizerError(z.prettifyError(parsed.error).replaceAll('\n', ' '), parsed.error)
  const json = parsed.data
  if (!JSON.stringify(json.decoder).includes('"ByteLevel"'))
    throw new MalformedTokenizerError(`its decoder is ${json.decoder.type}, and only ByteLevel is supported.`)
  if (JSON.stringify(json.pre_tokenizer ?? null).includes('"add_prefix_space":true'))
    throw new MalformedTokenizerError(
      'it puts a space before every text (add_prefix_space), which appending rules out.',
    )
  return new ByteLevelTokenizer(json)
}

class ByteLevelTokenizer implements Tokenizer {
  readonly vocabularySize: number
  readonly specialTokens: ReadonlyMap<string, number>
  /** Knows no special tokens, so that no text can spell one. */
  readonly #ordinary: HuggingFaceTokenizer
  readonly #specialPattern: RegExp | null
  /** The bytes each id stands for. */
  readonly #bytes: readonly (Uint8Array | undefined)[]

  constructor(json: z.infer<typeof TokenizerJson>) {
    const specials = json.added_tokens.filter(({ special }) => special)
    this.specialTokens = new Map(specials.map((token) => [token.content, token.id]))
    this.#specialPattern = anyOf([...this.specialTokens.keys()])
    this.#bytes = tokenBytes(json)
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

  encodeWithSpecials(text: string): number[] {
    if (this.#specialPattern === null) return this.encode(text)
    return text.split(this.#specialPattern).flatMap((part) => {
      const special = this.specialTokens.get(part)
      return special === undefined ? this.encode(part.replaceAll(escapeMark, '')) : [special]
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

function tokenBytes({ model, added_tokens }: z.infer<typeof TokenizerJson>): Uint8Array[] {
  const bytes: Uint8Array[] = []
  for (const [spelling, token] of Object.entries(model.vocab))
    bytes[token] = Uint8Array.from(spelling, (character) => byteOfCharacter.get(character) ?? 0xff)
  for (const token of added_tokens) bytes[token.id] = new TextEncoder().encode(token.content)
  return bytes
}

/**
 * Byte-level vocabularies spell each byte as one visible character: Latin-1's printable ones stand for themselves, the
 * others for U+0100 onwards in byte order (GPT-2).
 */
const byteOfCharacter: ReadonlyMap<string, number> = (() => {
  const isPrintable = (byte: number) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad)
  let next = 0x100
  return new Map(
    Array.from({ length: 256 }, (_, byte) => [String.fromCharCode(isPrintable(byte) ? byte : next++), byte]),
  )
})()
