import { NonFiniteProbabilitiesError } from './non-finite-probabilities-error.ts'

/** How a token is drawn from a distribution; see `SamplingParams` for the meanings. */
export interface DrawParams {
  /** 0 takes the most likely token. */
  readonly temperature: number
  /** Infinity keeps all. */
  readonly topK: number
  /** 1 keeps all. */
  readonly topP: number
}

/**
 * The temperature at which the graph must compute the distribution for these params: 1 where none is drawn from. Also 1
 * where only some tokens are allowed, or a datastore is mixed in: the graph's sum is over all tokens, and at a low temperature
 * those that may still be chosen could be lost in it.
 */
export function graphTemperature({ temperature }: DrawParams, changed = false): number {
  return temperature === 0 || changed ? 1 : temperature
}

/** The smallest number above 0 that the graph can tell. */
export const smallestFloat = 2 ** -149

/**
 * Weights of the allowed tokens, p^(1/temperature) up to a factor, and their sum. Where float32 holds the probability of
 * none of them, they weigh the same.
 */
function weighAllowed(
  probabilities: Float32Array,
  first: number,
  { temperature }: DrawParams,
  allowed: Int32Array,
  weights: Float32Array,
): number {
  const isAllowed = (token: number) => (((allowed[token >>> 5] as number) >>> (token & 31)) & 1) === 1
  let highest = 0
  for (let token = 0; token < weights.length; token++) {
    const weight = isAllowed(token) ? (probabilities[first + token] as number) : 0
    weights[token] = weight
    if (weight > highest) highest = weight
  }
  const even = highest === 0
  const asTheyAre = even || temperature === 0 || temperature === 1
  let total = 0
  for (let token = 0; token < weights.length; token++) {
    if (even && isAllowed(token)) weights[token] = 1
    const weight = weights[token] as number
    if (weight === 0) continue
    if (!asTheyAre) weights[token] = Math.exp(Math.log(weight / highest) / temperature)
    total += weights[token] as number
  }
  return total
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
  /** Weights of the allowed tokens, 0 for others; made when it is needed. */
  #weights: Float32Array | undefined

  constructor(vocabularySize: number) {
    this.#vocabularySize = vocabularySize
    this.#ranked = new Float64Array(vocabularySize)
  }

  /**
   * @param probabilities rows of the vocabulary's size, each a softmax at {@link graphTemperature}
   * @param row which of them
   * @param correction c in log p₁ = temperature · log p + c, with p₁ the probability at temperature 1
   * @param uniform a random number in [0, 1)
   * @param allowed a bit for each token that may be chosen, the first one lowest; at least one. Absent: all may.
   * @throws NonFiniteProbabilitiesError for a row that holds no numbers.
   */
  choose(
    probabilities: Float32Array,
    row: number,
    correction: number,
    params: DrawParams,
    uniform: number,
    allowed: Int32Array | null = null,
  ): void {
    const first = row * this.#vocabularySize
    if (allowed !== null) this.#chooseAllowed(probabilities, first, correction, params, uniform, allowed)
    else this.#chooseAny(probabilities, first, correction, params, uniform)
    // One that is no number makes the sum of its row, and so the whole row, none.
    if (!Number.isFinite(this.logprob)) throw new NonFiniteProbabilitiesError()
  }

  #chooseAny(
    probabilities: Float32Array,
    first: number,
    correction: number,
    params: DrawParams,
    uniform: number,
  ): void {
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

  /** As {@link choose}, among some: the probabilities are of temperature 1, and renormalised over the allowed tokens. */
  #chooseAllowed(
    probabilities: Float32Array,
    first: number,
    correction: number,
    params: DrawParams,
    uniform: number,
    allowed: Int32Array,
  ): void {
    const weights = (this.#weights ??= new Float32Array(this.#vocabularySize))
    const total = weighAllowed(probabilities, first, params, allowed, weights)
    let mass = total
    if (params.temperature === 0) this.token = this.#mostLikely(weights, 0)
    else if (params.topK < this.#vocabularySize || params.topP < 1)
      mass = this.#drawTruncated(weights, 0, params, uniform, total)
    else this.token = this.#draw(weights, 0, uniform * total)
    const weight = weights[this.token] as number
    this.behaviourLogprob = params.temperature === 0 ? 0 : Math.min(0, Math.log(weight / mass))
    const probability = Math.max(probabilities[first + this.token] as number, smallestFloat)
    this.logprob = Math.min(0, Math.log(probability) + correction)
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
  #drawTruncated(
    probabilities: Float32Array,
    first: number,
    { topK, topP }: DrawParams,
    uniform: number,
    total = 1,
  ): number {
    const candidates = this.#rank(probabilities, first, topK, topP, total)
    let mass = 0
    let kept = Math.min(topK, candidates)
    for (let rank = 0; rank < kept; rank++) mass += probabilities[first + this.#tokenAt(rank)] as number
    // What is not allowed weighs nothing, and is kept by no k.
    while (kept > 1 && probabilities[first + this.#tokenAt(kept - 1)] === 0) kept--
    if (topP < 1) {
      const wanted = topP * (topK < this.#vocabularySize ? mass : total)
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
  #rank(probabilities: Float32Array, first: number, topK: number, topP: number, total: number): number {
    const size = this.#vocabularySize
    // All tokens below (1 − p) / size of the total weigh at most 1 − p of it together: the others hold the nucleus.
    let count = this.#collect(probabilities, first, ((topK < size ? 1 : 1 - topP) / size) * total)
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
