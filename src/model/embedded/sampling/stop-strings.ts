import { LRUCache } from 'lru-cache'

/** Decoding of token sequences to text, as the model's tokenizer does it. */
export type Decode = (tokens: readonly number[]) => string

/** Sets of stop strings whose tokens are remembered: clients name any. */
const rememberedSets = 64

/**
 * Knows which tokens can complete a stop string, so that a worker, which has no tokenizer, samples up to such a token
 * and only then asks whether the text really contains the string.
 */
export class StopStrings {
  readonly #decode: Decode
  readonly #vocabularySize: number
  readonly #suspects = new LRUCache<string, readonly number[]>({ max: rememberedSets })
  #pieces: readonly string[] | undefined

  constructor(decode: Decode, vocabularySize: number) {
    this.#decode = decode
    this.#vocabularySize = vocabularySize
  }

  /** Every token after which the text may contain one of the strings for the first time. */
  suspects(stops: readonly string[]): readonly number[] {
    const key = JSON.stringify(stops)
    const known = this.#suspects.get(key)
    if (known) return known
    const pieces = this.#piecesOfTokens()
    const suspects = [...pieces.keys()].filter((token) =>
      stops.some((stop) => mayComplete(pieces[token] as string, stop)),
    )
    this.#suspects.set(key, suspects)
    return suspects
  }

  /** Whether the text of these tokens contains one of the strings. */
  contains(tokens: readonly number[], stops: readonly string[]): boolean {
    const text = this.#decode(tokens)
    return stops.some((stop) => text.includes(stop))
  }

  /** What each token adds to a text. Decoded after another token, since tokenizers may strip a text's first space. */
  #piecesOfTokens(): readonly string[] {
    if (this.#pieces) return this.#pieces
    const anchor = 0
    const before = this.#decode([anchor]).length
    this.#pieces = Array.from({ length: this.#vocabularySize }, (_, token) => {
      const after = this.#decode([anchor, token]).slice(before)
      // A special token as anchor may decode to nothing, and some tokens are shown only alone.
      return after === '' ? this.#decode([token]) : after
    })
    return this.#pieces
  }
}

/** Whether a text that lacks `stop` can contain it once `piece` is appended. */
function mayComplete(piece: string, stop: string): boolean {
  if (piece.includes(stop)) return true
  // Part of a character: what it becomes is known only together with its neighbours.
  if (piece.includes('\ufffd') && !isAscii(stop)) return true
  for (let length = 1; length < stop.length && length <= piece.length; length++) {
    if (stop.endsWith(piece.slice(0, length))) return true
  }
  return false
}

function isAscii(text: string): boolean {
  for (const character of text) if ((character.codePointAt(0) as number) > 127) return false
  return true
}
