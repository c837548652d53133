/** What a search may do for each character of the text, and for any text. Only texts that repeat themselves need more. */
const steps = { perCharacter: 8, always: 10_000 }

/** Who has said something that a text quotes. */
export interface Quoted<Maker> {
  readonly by: readonly (readonly Maker[])[]
  /** Whether the whole text was searched. It is not where that takes too many steps: then there may be more. */
  readonly complete: boolean
}

/**
 * Pieces of texts, and who said them: all that a text quotes are found at once, however many there are. What is quoted
 * stands in the text as whole words. Takes time in proportion to the text, whatever it holds: pieces are told apart by
 * hashes of 53 bits and by their length, so that nothing is compared letter by letter. Equal hashes are taken for equal
 * words, which can only find too many.
 */
export class Pieces<Maker> {
  /** The first 1, 2, 4, 8 … characters of each piece. */
  readonly #beginnings = new Set<number>()
  /** How long the pieces are that have this as their longest beginning. */
  readonly #lengths = new Map<number, Set<number>>()
  readonly #makers = new Map<number, Maker[]>()

  /** Remembers a text as a whole, and each line of it. */
  add(text: string, maker: Maker): void {
    const hashed = new Hashed(text)
    for (const { at, length } of piecesOf(text)) this.#addPiece(hashed, at, length, maker)
  }

  in(text: string): Quoted<Maker> {
    const by = new Set<readonly Maker[]>()
    if (this.#makers.size === 0) return { by: [], complete: true }
    const hashed = new Hashed(text)
    let left = steps.always + steps.perCharacter * text.length
    for (let at = 0; at < text.length; at++) {
      if (hashed.joined(at)) continue
      for (let size = 1; at + size <= text.length; size *= 2) {
        const beginning = hashed.short(at, size)
        if (left-- <= 0) return { by: [...by], complete: false }
        if (!this.#beginnings.has(beginning)) break
        const lengths = this.#lengths.get(beginning)
        if (lengths === undefined) continue
        for (const length of lengths) {
          if (left-- <= 0) return { by: [...by], complete: false }
          if (at + length > text.length || hashed.joined(at + length)) continue
          const makers = this.#makers.get(hashed.long(at, length))
          if (makers) by.add(makers)
        }
      }
    }
    return { by: [...by], complete: true }
  }

  #addPiece(text: Hashed, at: number, length: number, maker: Maker): void {
    const key = text.long(at, length)
    const makers = this.#makers.get(key)
    if (makers) {
      if (makers.at(-1) !== maker) makers.push(maker)
      return
    }
    this.#makers.set(key, [maker])
    let longest = 0
    for (let size = 1; size <= length; size *= 2) this.#beginnings.add((longest = text.short(at, size)))
    const lengths = this.#lengths.get(longest)
    if (lengths) lengths.add(length)
    else this.#lengths.set(longest, new Set([length]))
  }
}

/** Where they are: the text as a whole, and its lines without what marks an item of a list; those that say something. */
function* piecesOf(text: string): Iterable<{ readonly at: number; readonly length: number }> {
  if (!wordy.test(text)) return
  yield { at: text.length - text.trimStart().length, length: text.trim().length }
  let from = 0
  for (const line of text.split('\n')) {
    const said = line.replace(/^\s*(?:[-*•]|\d+[.)])\s+/, '').trimStart()
    if (wordy.test(said)) yield { at: from + line.length - said.length, length: said.trimEnd().length }
    from += line.length + 1
  }
}

const wordy = /[\p{L}\p{N}]/u
const isWordy = (unit: number) => wordy.test(String.fromCharCode(unit))
const ascii = Array.from({ length: 128 }, (_, unit) => isWordy(unit))

/** A text of which the hash of any part is known at once: polynomials of its characters, with two odd bases. */
class Hashed {
  readonly #first: Int32Array
  readonly #second: Int32Array
  readonly #wordy: Uint8Array

  constructor(text: string) {
    this.#first = new Int32Array(text.length + 1)
    this.#second = new Int32Array(text.length + 1)
    this.#wordy = new Uint8Array(text.length)
    let first = 0
    let second = 0
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      this.#wordy[i] = Number(ascii[unit] ?? isWordy(unit))
      first = (Math.imul(first, bases[0]) + unit + 1) | 0
      second = (Math.imul(second, bases[1]) + unit + 1) | 0
      this.#first[i + 1] = first
      this.#second[i + 1] = second
    }
  }

  /** Whether a word goes on across this place. */
  joined(at: number): boolean {
    return this.#wordy[at - 1] === 1 && this.#wordy[at] === 1
  }

  /** In 30 bits: quick to look up, and good enough to rule out. */
  short(at: number, length: number): number {
    return mixed(part(this.#first, bases[0], at, length)) >>> 2
  }

  /** In 53 bits. */
  long(at: number, length: number): number {
    const first = mixed(part(this.#first, bases[0], at, length))
    const second = mixed(part(this.#second, bases[1], at, length) ^ length)
    return (first >>> 0) * 2 ** 21 + (second >>> 11)
  }
}

const bases = [0x2c1b3c6d, 0x297a2d39] as const

function part(sums: Int32Array, base: number, at: number, length: number): number {
  return ((sums[at + length] ?? 0) - Math.imul(sums[at] ?? 0, power(base, length))) | 0
}

/** So that all bits depend on all: the lower ones of such a polynomial depend on the characters' lower bits alone. */
function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
}

function power(base: number, exponent: number): number {
  let result = 1
  let square = base
  for (let left = exponent; left > 0; left >>>= 1) {
    if ((left & 1) === 1) result = Math.imul(result, square)
    square = Math.imul(square, square)
  }
  return result
}
