import type { Embedder } from '../../core/index.ts'
import { embedded } from './vector.ts'

/** An embedder's vectors of texts that come again; each is made once. */
export class TextVectors {
  readonly embedder: Embedder
  readonly #most: number
  readonly #known = new Map<string, Float32Array>()

  /** @param most texts that are remembered at once. */
  constructor(embedder: Embedder, most = 4_096) {
    this.embedder = embedder
    this.#most = most
  }

  /** @throws MemoryError for a vector of another size than the embedder says. */
  async of(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const missing = [...new Set(texts)].filter((text) => !this.#known.has(text))
    const made = missing.length === 0 ? [] : await embedded(this.embedder, missing)
    const fresh = new Map(missing.map((text, i) => [text, made[i] ?? new Float32Array()]))
    const vectors = texts.map((text) => fresh.get(text) ?? this.#known.get(text) ?? new Float32Array())
    for (const [text, vector] of fresh) this.#remember(text, vector)
    return vectors
  }

  #remember(text: string, vector: Float32Array): void {
    const [oldest] = this.#known.keys()
    if (this.#known.size >= this.#most && oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(text, vector)
  }
}
