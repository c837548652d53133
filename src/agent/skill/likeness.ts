import { dot, type Embedder, unit } from '../../core/index.ts'
import { TextVectors } from '../memory/text-vectors.ts'
import type { Near } from './rule.ts'

/** Texts whose vectors are kept. */
const most = 8_192

/** How near texts are to each other, by an embedder. */
export class Likeness {
  readonly #vectors: TextVectors

  constructor(embedder: Embedder) {
    this.#vectors = new TextVectors(embedder, most)
  }

  /**
   * How near one text is to some of these others together. It is compared with their mean: what they share counts, and what
   * each says alone, as a name, does not.
   */
  async to(text: string, others: readonly string[]): Promise<Near> {
    const [vector = new Float32Array(), ...made] = await this.#vectors.of([text, ...others])
    const vectorOf = new Map(others.map((other, i) => [other, made[i] ?? []]))
    return (texts) => {
      const sum = new Float32Array(vector.length)
      for (const other of texts) {
        for (const [i, value] of (vectorOf.get(other) ?? []).entries()) sum[i] = (sum[i] ?? 0) + value
      }
      return dot(vector, unit(sum))
    }
  }
}
