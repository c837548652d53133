import { mean } from './outcome.ts'

/**
 * Ridge regression with an intercept that is not penalised: w minimises Σᵢ (yᵢ − ȳ − w·(xᵢ − x̄))² + λ‖w‖², so that
 * (XᵀX + λI) w = Xᵀy over centred data. The more λ, the nearer to the mean of the targets.
 * @param rows features of each observation, all of one length.
 * @param lambda > 0.
 * @returns what is predicted for other features; with no observations, 0.
 */
export function ridge(
  rows: readonly (readonly number[])[],
  targets: readonly number[],
  lambda: number,
): (features: readonly number[]) => number {
  const width = rows[0]?.length ?? 0
  const centre = Array.from({ length: width }, (_, k) => mean(rows.map((row) => row[k] ?? 0)))
  const middle = mean(targets)
  const gram = Array.from({ length: width }, (_, k) => Array.from({ length: width }, (__, l) => (k === l ? lambda : 0)))
  const moments = zeros(width)
  for (const [i, row] of rows.entries()) {
    const centred = row.map((value, k) => value - (centre[k] ?? 0))
    const target = (targets[i] ?? 0) - middle
    for (const [k, a] of centred.entries()) {
      if (a === 0) continue
      moments[k] = (moments[k] ?? 0) + a * target
      const line = gram[k] ?? []
      for (const [l, b] of centred.entries()) line[l] = (line[l] ?? 0) + a * b
    }
  }
  const weights = solve(gram, moments)
  return (features) => weights.reduce((sum, w, k) => sum + w * ((features[k] ?? 0) - (centre[k] ?? 0)), middle)
}

/** Solves A·x = b for a symmetric positive definite A, by its Cholesky factor: A = L·Lᵀ. */
function solve(a: readonly (readonly number[])[], b: readonly number[]): readonly number[] {
  const size = b.length
  const l: number[][] = Array.from({ length: size }, () => zeros(size))
  const at = (matrix: readonly (readonly number[])[], i: number, j: number) => matrix[i]?.[j] ?? 0
  for (let i = 0; i < size; i++) {
    const line = l[i] ?? []
    for (let j = 0; j <= i; j++) {
      let sum = at(a, i, j)
      for (let k = 0; k < j; k++) sum -= (line[k] ?? 0) * at(l, j, k)
      line[j] = i === j ? Math.sqrt(sum) : sum / at(l, j, j)
    }
  }
  const y: number[] = []
  for (let i = 0; i < size; i++) {
    let sum = b[i] ?? 0
    for (let k = 0; k < i; k++) sum -= at(l, i, k) * (y[k] ?? 0)
    y.push(sum / at(l, i, i))
  }
  const x = zeros(size)
  for (let i = size - 1; i >= 0; i--) {
    let sum = y[i] ?? 0
    for (let k = i + 1; k < size; k++) sum -= at(l, k, i) * (x[k] ?? 0)
    x[i] = sum / at(l, i, i)
  }
  return x
}

/** So many zeros. */
export function zeros(length: number): number[] {
  return Array.from({ length }, () => 0)
}
