/** The value that a standard normal exceeds with this probability, below 0.5, by bisection of its tail. */
export function upperQuantile(probability: number): number {
  let [low, high] = [0, 10]
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2
    if (upperTail(middle) > probability) low = middle
    else high = middle
  }
  return low
}

/** Φ(−z) for z ≥ 0, to 1e-7 (Abramowitz and Stegun 26.2.17). */
function upperTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z)
  const polynomial = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial
}
