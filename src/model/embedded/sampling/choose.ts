/** How a token is drawn from a distribution; see `SamplingParams` for the meanings. */
export interface DrawParams {
  /** 0 takes the most likely token. */
  readonly temperature: number
  /** Infinity keeps all. */
  readonly topK: number
  /** 1 keeps all. */
  readonly topP: number
}

/** The temperature at which the graph must compute the distribution for these params: 1 where none is drawn from. */
export function graphTemperature({ temperature }: DrawParams): number {
  return temperature === 0 ? 1 : temperature
}

/**
 * Chooses tokens from rows of probabilities. One object serves all sequences of a step: the result of
 * {@link TokenChooser.choose} is left in its fields, so that nothing is allocated for a token.
 */
export class TokenChooser {
  token = 0
  /** Under the distribution drawn from: temperature and truncation applied. 0 for greedy. */
  behaviourLogprob = 0
  /** Under the full vocabulary at temperature 1. */
  logprob = 0
  readonly #vocabularySize: number
  /** Candidates as sortable numbers: see {@link TokenChooser.#rank}. */
  readonly #ranked: Float64Array
  readonly #float = new Float32Array(1)
  readonly #bits = new Uint32Array(this.#float.buffer)

  constructor(vocabularySize: number) {
    this.#vocabularySize = vocabularySize
    this.#ranked = new Float64Array(vocabularySize)
  }

  /**
   * @param probabilities rows of the vocabulary's size, each a softmax at {@link graphTemperature}
   * @param row which of them
   * @param correction c in log p₁ = temperature · log p + c, with p₁ the probability at temperature 1
   * @param uniform a random number in [0, 1)
   */
  choose(probabilities: Float32Array, row: number, correction: number, params: DrawParams, uniform: number): void {
    const first = row * this.#vocabularySize
    let mass = 1
    if (params.temperature === 0) this.token = this.#mostLikely(probabilities, first)
    else if (params.topK < this.#vocabularySize || params.topP < 1)
      mass = this.#drawTruncated(probabilities, first, params, uniform)
    else this.token = this.#draw(probabilities, first, uniform)
    const logprob = Math.log(probabilities[first + this.token] as number)
    this.behaviourLogprob = params.temperature === 0 ? 0 : logprob - Math.log(mass)
    // The correction is of float32 logits: rounding may leave the sum a little above 0.
    this.logprob = Math.min(0, graphTemperature(params) * logprob + correction)
  }

  /** The first of the most likely tokens. */
  #mostLikely(probabilities: Float32Array, first: number): number {
    let best = 0
    let highest = probabilities[first] as number
    for (let token = 1; token < this.#vocabularySize; token++) {
      const probability = probabilities[first + token] as number
      if (probability > highest) {
        highest = probability
        best = token
      }
    }
    return best
  }

  /** Inverts the cumulative distribution. Rounding may leave the sum a little below 1: the last possible token has the rest. */
  #draw(probabilities: Float32Array, first: number, uniform: number): number {
    let left = uniform
    for (let token = 0; token < this.#vocabularySize; token++) {
      left -= probabilities[first + token] as number
      if (left < 0) return token
    }
    for (let token = this.#vocabularySize - 1; token > 0; token--) {
      if ((probabilities[first + token] as number) > 0) return token
    }
    return 0
  }

  /** Top-k, then top-p of what it kept, as Hugging Face orders them. Sets the token and returns the mass kept. */
  #drawTruncated(probabilities: Float32Array, first: number, { topK, topP }: DrawParams, uniform: number): number {
    const candidates = this.#rank(probabilities, first, topK, topP)
    let mass = 0
    let kept = Math.min(topK, candidates)
    for (let rank = 0; rank < kept; rank++) mass += probabilities[first + this.#tokenAt(rank)] as number
    if (topP < 1) {
      const wanted = topP * (topK < this.#vocabularySize ? mass : 1)
      mass = 0
      for (let rank = 0; rank < kept; rank++) {
        mass += probabilities[first + this.#tokenAt(rank)] as number
        if (mass >= wanted) kept = rank + 1
      }
    }
    let left = uniform * mass
    let rank = 0
    for (; rank < kept - 1; rank++) {
      left -= probabilities[first + this.#tokenAt(rank)] as number
      if (left < 0) break
    }
    this.token = this.#tokenAt(rank)
    return mass
  }

  /**
   * Sorts the tokens that can be kept, most likely first, equal ones by number, and returns how many they are. A rank is
   * the probability's float32 bits, which order as the floats do, then the token's number: a float64 holds both exactly
   * and sorts without a comparison function.
   */
  #rank(probabilities: Float32Array, first: number, topK: number, topP: number): number {
    const size = this.#vocabularySize
    // All tokens below (1 − p) / size weigh at most 1 − p together: the others hold the nucleus.
    let count = this.#collect(probabilities, first, (topK < size ? 1 : 1 - topP) / size)
    if (topK < size && count < topK) count = this.#collect(probabilities, first, 0)
    this.#ranked.subarray(0, count).sort()
    return count
  }

  #collect(probabilities: Float32Array, first: number, threshold: number): number {
    const size = this.#vocabularySize
    let count = 0
    for (let token = 0; token < size; token++) {
      const probability = probabilities[first + token] as number
      if (probability < threshold) continue
      this.#float[0] = probability
      this.#ranked[count++] = token - (this.#bits[0] as number) * size
    }
    return count
  }

  #tokenAt(rank: number): number {
    const remainder = (this.#ranked[rank] as number) % this.#vocabularySize
    return remainder < 0 ? remainder + this.#vocabularySize : Math.abs(remainder)
  }
}
