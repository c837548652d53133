import type { AdamParams } from '../../../core/index.ts'

/** The first and second moments of every trained value, and the number of steps taken. */
export interface AdamState {
  readonly m: Float32Array
  readonly v: Float32Array
  step: number
}

export function newAdamState(size: number): AdamState {
  return { m: new Float32Array(size), v: new Float32Array(size), step: 0 }
}

/**
 * One step of AdamW (Loshchilov & Hutter 2019, algorithm 2, bias-corrected, decoupled decay), in place:
 * m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², θ ← θ − lr·λ·θ − lr·m̂/(√v̂ + ε).
 */
export function adamw(values: Float32Array, gradient: Float32Array, state: AdamState, params: AdamParams): void {
  const { learningRate, beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weightDecay = 0 } = params
  state.step++
  const stepSize = learningRate / (1 - beta1 ** state.step)
  const correction = 1 / Math.sqrt(1 - beta2 ** state.step)
  const keep = 1 - learningRate * weightDecay
  const { m, v } = state
  for (let i = 0; i < values.length; i++) {
    const g = gradient[i] as number
    const first = beta1 * (m[i] as number) + (1 - beta1) * g
    const second = beta2 * (v[i] as number) + (1 - beta2) * g * g
    m[i] = first
    v[i] = second
    values[i] = (values[i] as number) * keep - (stepSize * first) / (Math.sqrt(second) * correction + eps)
  }
}
