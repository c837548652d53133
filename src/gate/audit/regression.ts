/** Strength of the prior that no feature tells anything, in sessions with a feature of 1. */
const RIDGE = 1

/**
 * A prediction of the truth from what a session's behaviour shows, by ridge regression on the labels so far. What it
 * predicts for a session rests on earlier sessions alone, so that a test may subtract it (a predictable control variate).
 */
export class RunningRegression {
  readonly #size: number
  /** Σ xxᵀ + ridge, and Σ x·y, of centred features. */
  readonly #gram: Float64Array
  readonly #moment: Float64Array
  readonly #mean: Float64Array
  #coefficients: Float64Array
  #stale = false
  #seen = 0

  constructor(size: number) {
    this.#size = size
    this.#gram = new Float64Array(size * size)
    for (let i = 0; i < size; i++) this.#gram[i * size + i] = RIDGE
    this.#moment = new Float64Array(size)
    this.#mean = new Float64Array(size)
    this.#coefficients = new Float64Array(size)
  }

  /** By how much the truth is expected to lie above its mean. */
  predict(features: readonly number[]): number {
    if (this.#stale) {
      this.#coefficients = solve(this.#gram, this.#moment, this.#size)
      this.#stale = false
    }
    let sum = 0
    for (let i = 0; i < this.#size; i++) sum += this.#coefficient(i) * this.#centred(features, i)
    return sum
  }

  /** A label: how far the truth of a session lay above the mean. */
  learn(features: readonly number[], above: number): void {
    for (let i = 0; i < this.#size; i++) {
      const x = this.#centred(features, i)
      this.#moment[i] = (this.#moment[i] as number) + x * above
      for (let j = 0; j < this.#size; j++) {
        const at = i * this.#size + j
        this.#gram[at] = (this.#gram[at] as number) + x * this.#centred(features, j)
      }
    }
    this.#stale = true
  }

  /** A session, labelled or not, of which the features' means are kept. */
  see(features: readonly number[]): void {
    this.#seen++
    for (let i = 0; i < this.#size; i++) {
      const mean = this.#mean[i] as number
      this.#mean[i] = mean + ((features[i] ?? 0) - mean) / this.#seen
    }
  }

  #coefficient(i: number): number {
    return this.#coefficients[i] as number
  }

  #centred(features: readonly number[], i: number): number {
    return (features[i] ?? 0) - (this.#mean[i] as number)
  }
}

/** Solves a positive definite system by Cholesky's decomposition. */
export function solve(gram: Float64Array, moment: Float64Array, size: number): Float64Array {
  const lower = new Float64Array(size * size)
  const at = (i: number, j: number) => lower[i * size + j] as number
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = gram[i * size + j] as number
      for (let k = 0; k < j; k++) sum -= at(i, k) * at(j, k)
      lower[i * size + j] = i === j ? Math.sqrt(Math.max(sum, Number.MIN_VALUE)) : sum / at(j, j)
    }
  }
  const solution = new Float64Array(size)
  for (let i = 0; i < size; i++) {
    let sum = moment[i] as number
    for (let k = 0; k < i; k++) sum -= at(i, k) * (solution[k] as number)
    solution[i] = sum / at(i, i)
  }
  for (let i = size - 1; i >= 0; i--) {
    let sum = solution[i] as number
    for (let k = i + 1; k < size; k++) sum -= at(k, i) * (solution[k] as number)
    solution[i] = sum / at(i, i)
  }
  return solution
}
