/** Characters of a piece that has no space in it, at most. */
const longest = 16

/**
 * Cuts a text that comes in any pieces into pieces of its own: words, with the space before them. Where it is cut depends on
 * the text alone, never on how it came.
 */
export class Words {
  #held = ''

  /** @returns what is whole by now; the rest may still grow. */
  add(text: string): readonly string[] {
    this.#held += text
    const pieces: string[] = []
    for (;;) {
      const end = endOfPiece(this.#held)
      if (end === null) return pieces
      pieces.push(this.#held.slice(0, end))
      this.#held = this.#held.slice(end)
    }
  }

  /** Nothing more comes. @returns the rest, which may be empty. */
  end(): string {
    const rest = this.#held
    this.#held = ''
    return rest
  }
}

/** Where the first piece ends; `null` while it may go on. */
function endOfPiece(text: string): number | null {
  const space = /^\s*\S+(?=\s)/.exec(text)?.[0].length ?? Number.POSITIVE_INFINITY
  if (space <= longest) return space
  if (text.length <= longest) return null
  // A pair of surrogates is one character.
  const last = text.charCodeAt(longest - 1)
  return last >= 0xd800 && last <= 0xdbff ? longest + 1 : longest
}
