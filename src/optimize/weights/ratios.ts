import type { Datum, Metrics } from '../../core/index.ts'
import { type PolicyLoss, sequenceRatio } from './losses/index.ts'

/**
 * How far the policy is from the one that sampled: over every token that entered the loss, the ratio
 * ρ = π_new / π_behaviour as it was before the step. Fresh samples have 1 throughout (invariant 2); with stale ones
 * `effectiveShare` falls: what the batch is worth, as a share of as many fresh tokens ((Σρ)² / (n·Σρ²), Kish 1965).
 */
export class Ratios {
  #tokens = 0
  #sum = 0
  #squares = 0
  #max = 0
  #kl = 0
  #clipped = 0

  /**
   * @param logprobs of the targets, as the trainer returned them for these data.
   * @returns the mean k3 estimate of KL(behaviour ‖ policy) over these data's tokens: ρ − 1 − log ρ (Schulman 2020).
   */
  add(data: readonly Datum[], logprobs: readonly (readonly number[])[], loss: PolicyLoss): number {
    const [low, high] = boundsOf(loss)
    const before = { tokens: this.#tokens, kl: this.#kl }
    for (const [index, { logprobs: behaviour = [], advantages = [] }] of data.entries()) {
      const whole =
        loss.kind === 'gspo'
          ? sequenceRatio({ logprobs: logprobs[index] ?? [], oldLogprobs: behaviour, advantages })
          : null
      for (const [t, advantage] of advantages.entries()) {
        if (advantage === 0) continue
        const logRatio = (logprobs[index]?.[t] ?? 0) - (behaviour[t] ?? 0)
        const ratio = Math.exp(logRatio)
        this.#tokens++
        this.#kl += ratio - 1 - logRatio
        this.#sum += ratio
        this.#squares += ratio ** 2
        this.#max = Math.max(this.#max, ratio)
        const bounded = whole ?? ratio
        if (bounded < low || bounded > high) this.#clipped++
      }
    }
    const tokens = this.#tokens - before.tokens
    return tokens === 0 ? 0 : (this.#kl - before.kl) / tokens
  }

  /** `clippedShare` counts tokens whose ratio, or whose sample's, is outside of the loss's bounds. Nothing where no token entered a loss. */
  metrics(): Metrics {
    const n = this.#tokens
    if (n === 0) return {}
    return {
      ratioMean: this.#sum / n,
      ratioMax: this.#max,
      kl: this.#kl / n,
      clippedShare: this.#clipped / n,
      effectiveShare: this.#squares === 0 ? 0 : this.#sum ** 2 / (n * this.#squares),
    }
  }
}

function boundsOf(loss: PolicyLoss): readonly [number, number] {
  return loss.kind === 'importance_sampling' ? [0, Number.POSITIVE_INFINITY] : [loss.clipLow, loss.clipHigh]
}
