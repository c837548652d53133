import type { Embedder } from '../../core/index.ts'
import { dot, embedded, unit } from '../memory/vector.ts'
import type { Near } from './rule.ts'

/** Texts whose vectors are kept. */
const most = 8_192

/** How near texts are to each other, by an embedder. */
export class Likeness {
  readonly #embedder: Embedder
  readonly #vectors = new Map<string, Float32Array>()

  constructor(embedder: Embedder) {
    this.#embedder = embedder
  }

  /**
   * How near one text is to some of these others together. It is compared with their mean: what they share counts, and what
   * each says alone, as a name, does not.
   */
  async to(text: string, others: readonly string[]): Promise<Near> {
    await this.#know([text, ...others])
    const vector = this.#vectors.get(text) ?? new Float32Array()
    return (texts) => {
      const sum = new Float32Array(vector.length)
      for (const other of texts) {
        for (const [i, value] of (this.#vectors.get(other) ?? []).entries()) sum[i] = (sum[i] ?? 0) + value
      }
      return dot(vector, unit(sum))
    }
  }

  async #know(texts: readonly string[]): Promise<void> {
    if (this.#vectors.size > most) this.#vectors.clear()
    const missing = [...new Set(texts)].filter((text) => !this.#vectors.has(text))
    if (missing.length === 0) return
    for (const [i, vector] of (await embedded(this.#embedder, missing)).entries()) {
      this.#vectors.set(missing[i] ?? '', vector)
    }
  }
}
