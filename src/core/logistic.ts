import { solve, zeros } from './solve.ts'

/** P(so) = 1 / (1 + exp(−(intercept + weights · features))). */
export interface Logistic {
  readonly intercept: number
  readonly weights: readonly number[]
}

/** What a logistic regression is fitted to: rows of equal length, targets in [0, 1], and how much each counts. */
export interface Fitted {
  readonly rows: readonly (readonly number[])[]
  readonly targets: readonly number[]
  /** Each > 0. */
  readonly counts: readonly number[]
}

/** 1 / (1 + exp(−z)). */
export const sigmoid = (z: number): number => 1 / (1 + Math.exp(-z))

/** log(1 + exp(z)), without overflow. */
export const softplus = (z: number): number => Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z)))

/** Intercept + weights · row. */
export function logit({ intercept, weights }: Logistic, row: readonly number[]): number {
  let sum = intercept
  for (let i = 0; i < weights.length; i++) sum += (weights[i] ?? 0) * (row[i] ?? 0)
  return sum
}

const mostSteps = 100
const tolerance = 1e-10

/**
 * Logistic regression: the least of Σ counts · log loss + l2/2 · |weights|², by Newton's method with halved steps; the
 * intercept is not shrunk. Equal to scikit-learn's `LogisticRegression(C = 1/l2)`. A step costs rows · features².
 * @param l2 ≥ 0; 0 only where the targets are not separable.
 */
export function fitLogistic(data: Fitted, l2: number): Logistic {
  const size = (data.rows[0]?.length ?? 0) + 1
  let at: readonly number[] = zeros(size)
  let loss = lossAt(data, at, l2)
  for (let step = 0; step < mostSteps; step++) {
    const { gradient, hessian } = slope(data, at, l2)
    const direction = solve(hessian, gradient)
    let length = 1
    let next = along(at, direction, length)
    let nextLoss = lossAt(data, next, l2)
    while (!(nextLoss <= loss) && length > 1e-6) {
      length /= 2
      next = along(at, direction, length)
      nextLoss = lossAt(data, next, l2)
    }
    if (!(nextLoss <= loss)) break
    const moved = direction.reduce((most, value) => Math.max(most, Math.abs(value * length)), 0)
    at = next
    loss = nextLoss
    if (moved < tolerance) break
  }
  const [intercept = 0, ...weights] = at
  return { intercept, weights }
}

const along = (from: readonly number[], direction: readonly number[], length: number): readonly number[] =>
  from.map((value, i) => value - length * (direction[i] ?? 0))

const asModel = ([intercept = 0, ...weights]: readonly number[]): Logistic => ({ intercept, weights })

function lossAt({ rows, targets, counts }: Fitted, at: readonly number[], l2: number): number {
  const model = asModel(at)
  let loss = (l2 / 2) * model.weights.reduce((sum, w) => sum + w * w, 0)
  for (const [i, row] of rows.entries()) {
    const z = logit(model, row)
    loss += (counts[i] ?? 0) * (softplus(z) - (targets[i] ?? 0) * z)
  }
  return loss
}

function slope({ rows, targets, counts }: Fitted, at: readonly number[], l2: number) {
  const model = asModel(at)
  const size = at.length
  const gradient = at.map((value, i) => (i === 0 ? 0 : l2 * value))
  // The intercept's own curvature vanishes where all is certain: a trace of it keeps the system solvable.
  const hessian = Array.from({ length: size }, (_, i) => {
    const line = zeros(size)
    line[i] = i === 0 ? 1e-12 : l2 + 1e-12
    return line
  })
  for (const [n, row] of rows.entries()) {
    const p = sigmoid(logit(model, row))
    const count = counts[n] ?? 0
    const off = count * (p - (targets[n] ?? 0))
    const curved = count * p * (1 - p)
    for (let i = 0; i < size; i++) {
      const xi = i === 0 ? 1 : (row[i - 1] ?? 0)
      gradient[i] = (gradient[i] ?? 0) + off * xi
      const line = hessian[i] ?? []
      for (let j = 0; j <= i; j++) line[j] = (line[j] ?? 0) + curved * xi * (j === 0 ? 1 : (row[j - 1] ?? 0))
    }
  }
  for (let i = 0; i < size; i++) for (let j = i + 1; j < size; j++) (hessian[i] ?? [])[j] = hessian[j]?.[i] ?? 0
  return { gradient, hessian }
}
