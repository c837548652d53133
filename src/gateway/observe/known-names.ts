/** What is shown for a name that is not known. */
const other = 'other'

/**
 * Names that may become labels of a metric. Names come from clients, and every label value costs memory for as long as the
 * process lives: so a name is known once it has proved real, up to so many, and all others are one.
 */
export class KnownNames {
  readonly #most: number
  readonly #longest: number
  readonly #names = new Set<string>()

  constructor(most = 64, longest = 128) {
    this.#most = most
    this.#longest = longest
  }

  /** The name has proved real. */
  learn(name: string): void {
    if (this.#names.size < this.#most && name.length <= this.#longest) this.#names.add(name)
  }

  /** The name, or `other`. */
  label(name: string): string {
    return this.#names.has(name) ? name : other
  }
}
