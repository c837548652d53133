/** Lets text through up to the first of some strings. What may still become one of them is held back. */
export class TextBefore {
  readonly #stops: readonly string[]
  #held = ''
  #reached = false

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== '')
  }

  /** The next text that is certain to come before all of them. */
  push(text: string): string {
    if (this.#reached || this.#stops.length === 0) return this.#reached ? '' : text
    const seen = this.#held + text
    const first = firstCompleted(seen, this.#stops)
    this.#reached = first !== null
    const sure = first ?? seen.length - Math.max(...this.#stops.map((stop) => heldBack(seen, stop)))
    this.#held = first === null ? seen.slice(sure) : ''
    return seen.slice(0, sure)
  }

  /** Nothing more comes: what was held back. */
  end(): string {
    const held = this.#held
    this.#held = ''
    return held
  }
}

/** Where the first one begins that a reader of one character after another would see complete; of several, the longest. */
function firstCompleted(text: string, stops: readonly string[]): number | null {
  const found = stops
    .map((stop) => ({ begin: text.indexOf(stop), length: stop.length }))
    .filter(({ begin }) => begin >= 0)
    .toSorted((a, b) => a.begin + a.length - (b.begin + b.length) || a.begin - b.begin)
  return found[0]?.begin ?? null
}

/** How many characters at the end of a text may be the beginning of `mark`, which the text does not hold. */
export function heldBack(text: string, mark: string): number {
  let length = Math.min(text.length, mark.length - 1)
  while (length > 0 && !mark.startsWith(text.slice(-length))) length--
  return length
}
