/** Standard normal distribution function; absolute accuracy 1e-15 (its series, Abramowitz & Stegun 26.2.11). NaN of NaN. */
export function normalCdf(z: number): number {
  if (Number.isNaN(z)) return z
  if (Math.abs(z) > 9) return z > 0 ? 1 : 0
  let term = z
  let sum = z
  for (let k = 3; sum + term !== sum; k += 2) {
    term *= (z * z) / k
    sum += term
  }
  return 0.5 + (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI)
}

/** The z below which a standard normal falls with `probability` in (0, 1); absolute accuracy about 1e-12 for |z| < 5. */
export function normalQuantile(probability: number): number {
  let low = -9
  let high = 9
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2
    if (normalCdf(middle) < probability) low = middle
    else high = middle
  }
  return (low + high) / 2
}
