import { solve, zeros } from '../core/index.ts'
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
