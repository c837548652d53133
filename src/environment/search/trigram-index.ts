/**
 * Finds texts by the character trigrams they share with a query: cosine similarity of binary trigram vectors weighted
 * by inverse document frequency. No stemming, no language: a misspelt name still finds its neighbours.
 */
export class TrigramIndex {
  readonly #ids = new Map<string, number>()
  /** Texts that contain trigram g: `#postings[#starts[g] … #starts[g + 1])`. */
  readonly #starts: Int32Array
  readonly #postings: Int32Array
  /** Squared inverse document frequency of each trigram. */
  readonly #weights: Float64Array
  readonly #norms: Float64Array
  // Scratch of one query, all zero between queries.
  readonly #scores: Float64Array
  readonly #touched: Int32Array

  constructor(texts: readonly string[]) {
    const gramsOfText = texts.map((text) =>
      Int32Array.from(trigrams(text), (gram) => {
        const id = this.#ids.get(gram) ?? this.#ids.size
        if (id === this.#ids.size) this.#ids.set(gram, id)
        return id
      }),
    )

    const starts = new Int32Array(this.#ids.size + 1)
    for (const grams of gramsOfText) for (const gram of grams) starts[gram + 1] = (starts[gram + 1] as number) + 1
    const weights = new Float64Array(this.#ids.size)
    for (let gram = 0; gram < weights.length; gram++) {
      const frequency = starts[gram + 1] as number
      weights[gram] = Math.log1p(texts.length / frequency) ** 2
      starts[gram + 1] = (starts[gram] as number) + frequency
    }

    const next = starts.slice()
    const postings = new Int32Array(starts[this.#ids.size] as number)
    const norms = new Float64Array(texts.length)
    for (const [text, grams] of gramsOfText.entries()) {
      let squares = 0
      for (const gram of grams) {
        const at = next[gram] as number
        postings[at] = text
        next[gram] = at + 1
        squares += weights[gram] as number
      }
      norms[text] = Math.sqrt(squares)
    }

    this.#starts = starts
    this.#postings = postings
    this.#weights = weights
    this.#norms = norms
    this.#scores = new Float64Array(texts.length)
    this.#touched = new Int32Array(texts.length)
  }

  /**
   * Indices of the at most `limit` texts most similar to `query`, best first, ties to the lower index.
   * Texts that share no trigram are never returned.
   */
  search(query: string, limit: number): number[] {
    const touched = this.#accumulate(query)
    const best: number[] = []
    const bestScores: number[] = []
    for (let i = 0; i < touched; i++) {
      const text = this.#touched[i] as number
      const score = (this.#scores[text] as number) / (this.#norms[text] as number)
      this.#scores[text] = 0
      let rank = best.length
      while (rank > 0 && isBetter(score, text, bestScores[rank - 1] as number, best[rank - 1] as number)) rank--
      if (rank === limit) continue
      best.splice(rank, 0, text)
      bestScores.splice(rank, 0, score)
      if (best.length > limit) {
        best.pop()
        bestScores.pop()
      }
    }
    return best
  }

  /** Adds up the weights of shared trigrams; returns how many texts share any, listed in `#touched`. */
  #accumulate(query: string): number {
    const scores = this.#scores
    const postings = this.#postings
    let touched = 0
    for (const gram of trigrams(query)) {
      const id = this.#ids.get(gram)
      if (id === undefined) continue
      const weight = this.#weights[id] as number
      const end = this.#starts[id + 1] as number
      for (let at = this.#starts[id] as number; at < end; at++) {
        const text = postings[at] as number
        const score = scores[text] as number
        if (score === 0) this.#touched[touched++] = text
        scores[text] = score + weight
      }
    }
    return touched
  }
}

function isBetter(score: number, text: number, otherScore: number, otherText: number): boolean {
  return score > otherScore || (score === otherScore && text < otherText)
}

/** The distinct trigrams of a text in lower case, white space collapsed, one space before and after. */
function trigrams(text: string): Set<string> {
  const padded = ` ${text.toLowerCase().replace(/\s+/g, ' ').trim()} `
  const grams = new Set<string>()
  for (let i = 0; i + 3 <= padded.length; i++) grams.add(padded.slice(i, i + 3))
  return grams
}
