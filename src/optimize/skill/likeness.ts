import { dot, embedded } from '../../agent/index.ts'
import type { Embedder } from '../../core/index.ts'

/** Texts whose vectors are kept. */
const most = 2_000

/** How near texts are to each other, by an embedder. */
export class Likeness {
  readonly #embedder: Embedder
  readonly #vectors = new Map<string, Float32Array>()

  constructor(embedder: Embedder) {
    this.#embedder = embedder
  }

  /** The cosine of one text to each of some others. */
  async to(text: string, others: readonly string[]): Promise<(other: string) => number> {
    if (others.length === 0) return () => 0
    const vector = await this.#of(text)
    const near = new Map<string, number>()
    for (const other of others) near.set(other, dot(vector, await this.#of(other)))
    return (other) => near.get(other) ?? 0
  }

  async #of(text: string): Promise<Float32Array> {
    const known = this.#vectors.get(text)
    if (known) return known
    const [vector = new Float32Array()] = await embedded(this.#embedder, [text])
    if (this.#vectors.size >= most) this.#vectors.clear()
    this.#vectors.set(text, vector)
    return vector
  }
}
