import { adam, type Fitted, type Rng, sigmoid, softplus } from '../../core/index.ts'

/** A network with one hidden layer: logit = intercept + Σₖ weightsₖ · tanh(hiddenₖ₀ + Σⱼ hiddenₖⱼ₊₁ · xⱼ). */
export interface Mlp {
  /** Of each unit, its bias and then its weights. */
  readonly hidden: readonly (readonly number[])[]
  readonly intercept: number
  readonly weights: readonly number[]
}

/** How a network is trained. */
export interface MlpTraining {
  /** Units of the hidden layer, ≥ 1. */
  readonly units: number
  /** Shrinks all weights but the biases; ≥ 0. */
  readonly l2: number
  /** Of the first weights. */
  readonly rng: Rng
}

const steps = 300
const rate = 0.03

/**
 * Fits the network to targets in [0, 1]: Σ counts · log loss + l2/2 · |weights|², by Adam over all rows at once. Equal data and
 * chance give an equal network. Where the least lies is not known: another chance may find another one.
 */
export function fitMlp(data: Fitted, { units, l2, rng }: MlpTraining): Mlp {
  const inputs = data.rows[0]?.length ?? 0
  const at = begun(units, inputs, rng)
  const total = data.counts.reduce((sum, count) => sum + count, 0)
  const descend = adam(at.length, rate)
  for (let step = 0; step < steps; step++) {
    const { gradient } = mlpSlope(data, at, { units, l2 })
    descend(
      at,
      gradient.map((slope) => slope / total),
    )
  }
  return networkOf(at, units, inputs)
}

/**
 * The loss of a network and its slope in every parameter. Parameters stand unit by unit, bias first; then the intercept and the
 * weights of the units.
 */
export function mlpSlope(
  { rows, targets, counts }: Fitted,
  at: Float64Array,
  { units, l2 }: { readonly units: number; readonly l2: number },
): { readonly loss: number; readonly gradient: Float64Array } {
  const inputs = rows[0]?.length ?? 0
  const width = inputs + 1
  const out = units * width
  const gradient = new Float64Array(at.length)
  const active = new Float64Array(units)
  let loss = 0
  for (let i = 0; i < at.length; i++) {
    if (isBias(i, out, width)) continue
    loss += (l2 / 2) * (at[i] ?? 0) ** 2
    gradient[i] = l2 * (at[i] ?? 0)
  }
  for (const [n, row] of rows.entries()) {
    let z = at[out] ?? 0
    for (let k = 0; k < units; k++) {
      let sum = at[k * width] ?? 0
      for (let j = 0; j < inputs; j++) sum += (at[k * width + 1 + j] ?? 0) * (row[j] ?? 0)
      active[k] = Math.tanh(sum)
      z += (at[out + 1 + k] ?? 0) * (active[k] ?? 0)
    }
    const count = counts[n] ?? 0
    const target = targets[n] ?? 0
    loss += count * (softplus(z) - target * z)
    const off = count * (sigmoid(z) - target)
    gradient[out] = (gradient[out] ?? 0) + off
    for (let k = 0; k < units; k++) {
      const on = active[k] ?? 0
      gradient[out + 1 + k] = (gradient[out + 1 + k] ?? 0) + off * on
      const back = off * (at[out + 1 + k] ?? 0) * (1 - on * on)
      gradient[k * width] = (gradient[k * width] ?? 0) + back
      for (let j = 0; j < inputs; j++) {
        const place = k * width + 1 + j
        gradient[place] = (gradient[place] ?? 0) + back * (row[j] ?? 0)
      }
    }
  }
  return { loss, gradient }
}

/** What each hidden unit says of a row. */
export const activations = (hidden: Mlp['hidden'], row: readonly number[]): readonly number[] =>
  hidden.map(([bias = 0, ...weights]) =>
    Math.tanh(weights.reduce((sum, weight, j) => sum + weight * (row[j] ?? 0), bias)),
  )

const isBias = (i: number, out: number, width: number) => (i < out ? i % width === 0 : i === out)

/** Small weights, as many inputs make larger sums (Glorot and Bengio, 2010); the biases are 0. */
function begun(units: number, inputs: number, rng: Rng): Float64Array {
  const width = inputs + 1
  const out = units * width
  const [inner, outer] = [Math.sqrt(6 / (inputs + units)), Math.sqrt(6 / (units + 1))]
  return Float64Array.from({ length: out + 1 + units }, (_, i) =>
    isBias(i, out, width) ? 0 : (i < out ? inner : outer) * (2 * rng.next() - 1),
  )
}

function networkOf(at: Float64Array, units: number, inputs: number): Mlp {
  const width = inputs + 1
  const out = units * width
  return {
    hidden: Array.from({ length: units }, (_, k) => Array.from(at.subarray(k * width, (k + 1) * width))),
    intercept: at[out] ?? 0,
    weights: Array.from(at.subarray(out + 1)),
  }
}
