import type { Metrics, PolicySample, Trainer } from '../../core/index.ts'
import { policyDatum } from './datum.ts'
import { requireOption } from './errors.ts'

/**
 * A policy that the one which learns is kept near: a trainer of its own that takes no step. A new LoRA adapter is the base
 * model exactly; `loadWeights` makes it any other.
 */
export type Reference = Pick<Trainer, 'forward'>

/** Keeps the policy near a reference; see {@link withKlPenalty} and {@link klSlopes}. */
export interface KlToReference {
  readonly reference: Reference
  /** β > 0: what a nat of divergence costs, in the reward's unit. */
  readonly weight: number
  /** `reward`: k1, off the advantages (InstructGPT, Ouyang et al. 2022). `loss`: k3, beside the policy loss (GRPO, Shao et al. 2024). */
  readonly in: 'reward' | 'loss'
  /** `reward` only: γ in [0, 1] with which a token answers for what the later ones diverge. Default 1. */
  readonly discount?: number
}

/** @throws OptimizeError for a weight that is not above 0, and a discount outside of [0, 1] or where there is none. */
export function requireKl({ weight, discount, in: place }: KlToReference): void {
  requireOption(weight > 0 && Number.isFinite(weight), `The weight of the KL is ${weight}`, 'Make it above 0')
  requireOption(
    discount === undefined || (place === 'reward' && discount >= 0 && discount <= 1),
    `The KL in the ${place} has the discount ${discount}`,
    'Give one in [0, 1] where the KL is in the reward, and none where it is in the loss',
  )
}

/** The reference's log-probabilities of all targets of each sample. */
export function referenceOf(
  reference: Reference,
  samples: readonly PolicySample[],
  temperature: number,
): Promise<readonly (readonly number[])[]> {
  return reference.forward(
    samples.map((sample) => policyDatum(sample, 1)),
    temperature,
  )
}

/**
 * KL in the reward: each sampled token costs β·d with d = lp_sampler − lp_ref, the k1 estimate of KL(sampler ‖ reference), and
 * answers for its own and, discounted by γ, for those that follow in its sample: A_t − β·(G_t − mean G), with
 * G_t = Σ_{k≥t} γ^(k−t)·d_k. With γ = 1 this is the gradient of the penalised return; the mean over the batch's tokens is a
 * baseline.
 */
export function withKlPenalty(
  samples: readonly PolicySample[],
  reference: readonly (readonly number[])[],
  { weight, discount = 1 }: Pick<KlToReference, 'weight' | 'discount'>,
): { readonly samples: readonly PolicySample[]; readonly metrics: Metrics } {
  let [costs, total, tokens] = [0, 0, 0]
  const toGo = samples.map(({ sampled, behaviourLogprobs }, i) => {
    let after = 0
    return sampled
      .map((_, back) => {
        const t = sampled.length - 1 - back
        if (!sampled[t] || t === 0) return 0
        const cost = (behaviourLogprobs[t] ?? 0) - (reference[i]?.[t - 1] ?? 0)
        after = cost + discount * after
        costs += cost
        total += after
        tokens++
        return after
      })
      .toReversed()
  })
  const baseline = total / Math.max(1, tokens)
  return {
    samples: samples.map((sample, i) => ({
      ...sample,
      advantages: sample.advantages.map((advantage, t) =>
        sample.sampled[t] && t > 0 ? advantage - weight * ((toGo[i]?.[t] ?? 0) - baseline) : advantage,
      ),
    })),
    metrics: { referenceKl: costs / Math.max(1, tokens) },
  }
}

/**
 * KL in the loss: β·k3 on every sampled token, k3 = e^d − d − 1 with d = lp_ref − lp (Schulman 2020), never below 0, slope
 * β·(1 − e^d). On policy the mean of that slope is the gradient of KL(reference ‖ policy).
 */
export function klSlopes(
  logprobs: readonly number[],
  reference: readonly number[],
  sampled: readonly boolean[],
  weight: number,
): { readonly loss: number; readonly slopes: readonly number[] } {
  let loss = 0
  const slopes = logprobs.map((logprob, t) => {
    if (!sampled[t]) return 0
    const d = (reference[t] ?? 0) - logprob
    loss += weight * (Math.expm1(d) - d)
    return -weight * Math.expm1(d)
  })
  return { loss, slopes }
}
