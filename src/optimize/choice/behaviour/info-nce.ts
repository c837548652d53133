/** Vectors of one length, one after the other. */
type Vectors = Float64Array

/** A loss, and its slope in each number of both sides. */
export interface Contrast {
  readonly loss: number
  readonly first: Vectors
  readonly second: Vectors
}

/**
 * Symmetric InfoNCE (van den Oord et al., "Representation Learning with Contrastive Predictive Coding", 2018; both ways as in
 * Radford et al., "Learning Transferable Visual Models", 2021). With sᵢⱼ = firstᵢ·secondⱼ / τ over n pairs, the loss is the mean
 * over i of ½·(log Σⱼ exp(sᵢⱼ) + log Σⱼ exp(sⱼᵢ)) − sᵢᵢ: to know the partner of each vector among those of all. A guess costs
 * log n.
 * @param first n vectors; `second` the n that belong to them, in the same order.
 * @param dimensions numbers of one vector, ≥ 1.
 * @param temperature τ > 0.
 */
export function infoNce(first: Vectors, second: Vectors, dimensions: number, temperature: number): Contrast {
  const n = first.length / dimensions
  const scores = new Float64Array(n * n)
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      let sum = 0
      for (let k = 0; k < dimensions; k++) sum += (first[i * dimensions + k] ?? 0) * (second[j * dimensions + k] ?? 0)
      scores[i * n + j] = sum / temperature
    }
  }
  // ∂loss/∂sᵢⱼ = (softmax over row i at j + softmax over column j at i − 2·[i = j]) / 2n.
  const slopes = new Float64Array(n * n)
  let loss = 0
  for (let i = 0; i < n; i++) {
    loss += softmaxOf(scores, slopes, i * n, 1, n) + softmaxOf(scores, slopes, i, n, n) - 2 * (scores[i * n + i] ?? 0)
    slopes[i * n + i] = (slopes[i * n + i] ?? 0) - 2
  }
  const [dFirst, dSecond] = [new Float64Array(first.length), new Float64Array(second.length)]
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const slope = (slopes[i * n + j] ?? 0) / (2 * n * temperature)
      for (let k = 0; k < dimensions; k++) {
        const [a, b] = [i * dimensions + k, j * dimensions + k]
        dFirst[a] = (dFirst[a] ?? 0) + slope * (second[b] ?? 0)
        dSecond[b] = (dSecond[b] ?? 0) + slope * (first[a] ?? 0)
      }
    }
  }
  return { loss: loss / (2 * n), first: dFirst, second: dSecond }
}

/** Adds the softmax of a row or column to `into`. @returns the logarithm of its sum of exponentials. */
function softmaxOf(scores: Float64Array, into: Float64Array, from: number, stride: number, n: number): number {
  let highest = Number.NEGATIVE_INFINITY
  for (let j = 0; j < n; j++) highest = Math.max(highest, scores[from + j * stride] ?? 0)
  let sum = 0
  for (let j = 0; j < n; j++) sum += Math.exp((scores[from + j * stride] ?? 0) - highest)
  for (let j = 0; j < n; j++) {
    const at = from + j * stride
    into[at] = (into[at] ?? 0) + Math.exp((scores[at] ?? 0) - highest) / sum
  }
  return highest + Math.log(sum)
}
