import { factored, zeros } from './solve.ts'

/** middle + weights · (features − centre). */
export interface Linear {
  readonly middle: number
  readonly centre: readonly number[]
  readonly weights: readonly number[]
}

/** What a linear function says of these features. */
export const linear = ({ middle, centre, weights }: Linear, features: readonly number[]): number =>
  weights.reduce((sum, w, k) => sum + w * ((features[k] ?? 0) - (centre[k] ?? 0)), middle)

/**
 * Ridge regression with an intercept that is not penalised: w minimises Σᵢ (yᵢ − ȳ − w·(xᵢ − x̄))² + λ‖w‖², so that
 * (XᵀX + λI) w = Xᵀy over centred data. The more λ, the nearer to the mean of the targets.
 * @param rows features of each observation, all of one length.
 * @param lambda > 0.
 * @returns fits it to targets; what costs most, rows · features² + features³, is done once for all of them. With no
 * observations the function is 0.
 */
export function ridgeOver(
  rows: readonly (readonly number[])[],
  lambda: number,
): (targets: readonly number[]) => Linear {
  const width = rows[0]?.length ?? 0
  const centre = Array.from({ length: width }, (_, k) => mean(rows.map((row) => row[k] ?? 0)))
  const centred = rows.map((row) => row.map((value, k) => value - (centre[k] ?? 0)))
  const gram = Array.from({ length: width }, (_, k) => Array.from({ length: width }, (__, l) => (k === l ? lambda : 0)))
  for (const row of centred) {
    for (const [k, a] of row.entries()) {
      if (a === 0) continue
      const line = gram[k] ?? []
      for (const [l, b] of row.entries()) line[l] = (line[l] ?? 0) + a * b
    }
  }
  const solved = factored(gram)
  return (targets) => {
    const middle = mean(targets)
    const moments = zeros(width)
    for (const [i, row] of centred.entries()) {
      const target = (targets[i] ?? 0) - middle
      for (const [k, a] of row.entries()) moments[k] = (moments[k] ?? 0) + a * target
    }
    return { middle, centre, weights: solved(moments) }
  }
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
