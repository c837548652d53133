/** Something that holds keys and values of sequences. */
export interface KvHolder {
  /** float32 elements allocated now. */
  readonly held: number
  /** Elements that it may come to hold with the sequences that it has. */
  readonly reserved: number
  readonly idle: boolean
  /** Gives its memory back; only called when it is idle. */
  release(): void
}

/** The share of the bound that decoding sequences may take: the rest, and what they leave, is for cached prefixes. */
const decodingShare = 3 / 4

/**
 * One bound on the keys and values of a worker. Sequences wait when they might not fit beside those that decode, and
 * cached prefixes give way to them. Two things may go past it, so that work always goes on: the oldest sequence of an
 * adapter, and sequences that outgrow their length class.
 */
export class KvMemory {
  readonly #limit: number
  readonly #holders = new Set<KvHolder>()

  /** @param limit float32 elements */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Elements that holders have allocated. */
  get held(): number {
    return this.#sum(({ held }) => held)
  }

  /** Elements left for cached prefixes. */
  get left(): number {
    return Math.max(0, this.#limit - this.held)
  }

  /** Elements that waiting prompts may hold on to: a quarter of the bound. */
  get forPrompts(): number {
    return this.#limit * (1 - decodingShare)
  }

  add(holder: KvHolder): void {
    this.#holders.add(holder)
  }

  delete(holder: KvHolder): void {
    this.#holders.delete(holder)
  }

  /** Whether a holder may come to hold so much. Where memory is short, idle holders give theirs back first. */
  allows(holder: KvHolder, elements: number): boolean {
    const fits = () =>
      this.#sum((other) => (other === holder ? elements : other.reserved)) <= this.#limit * decodingShare
    if (fits()) return true
    for (const other of this.#holders) if (other !== holder && other.idle) other.release()
    return fits() || [...this.#holders].every(({ idle }) => idle)
  }

  #sum(of: (holder: KvHolder) => number): number {
    let total = 0
    for (const holder of this.#holders) total += of(holder)
    return total
  }
}
