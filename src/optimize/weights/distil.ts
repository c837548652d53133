import type { PolicySample, WeightsOptimizer } from '../../core/index.ts'
import { requireOption } from './errors.ts'
import { reproducibleTemperature } from './fit-samples.ts'
import { type Openings, reopened } from './hints.ts'
import { policyGradient } from './policy-gradient.ts'
import type { PolicyGradientOptions } from './policy-options.ts'
import { type Reference, referenceOf } from './reference.ts'

/** On-policy distillation. */
export interface DistilOptions extends PolicyGradientOptions {
  /** Who is imitated: a trainer that takes no step, with the same tokens, as of larger or earlier weights. */
  readonly teacher: Reference
  /** What the teacher reads in the place of a sample's opening; `null`: just that. Default: always just that. */
  readonly hint?: (sample: PolicySample) => Openings | null
  /** The most that a token is praised or blamed, in nats, above 0. Default 5. */
  readonly most?: number
}

/**
 * On-policy distillation, in the place of a policy gradient in a {@link sequence}: what the policy sampled is judged token by
 * token by a teacher, A_t = log π_teacher(a_t | s) − log π_sampler(a_t | s) within ±`most`, so that its mean is
 * −KL(policy ‖ teacher): the policy learns where it goes itself, and not where the teacher would have gone (GKD, Agarwal et al.
 * 2024; the reverse KL as an advantage: Lu et al. 2025, "On-Policy Distillation", Thinking Machines).
 *
 * With `hint` the teacher is told what the policy was not (what a user corrected, the solution, a plan), and may have the same
 * weights: what the hint changes is learned without it. Of rewards and credit only the samples remain: those that carry an
 * advantage, whatever it is. The loss is importance sampling unless another is named.
 * @throws OptimizeError as `policyGradient` does, for a `most` that is not above 0, and for a hint to another opening.
 */
export function distil({ teacher, hint, most = 5, ...options }: DistilOptions): WeightsOptimizer {
  requireOption(most > 0, `most is ${most}`, 'Make it a number of nats above 0')
  const practice = policyGradient({ loss: 'importance_sampling', ...options })
  return {
    ...practice,
    name: 'on-policy-distillation',
    async step(context) {
      const samples = context.gradients.flatMap(({ deposits }) => deposits)
      const temperature = reproducibleTemperature(samples)
      if (temperature === null) return practice.step(context)
      const read = samples.map((sample) => ({ sample, hint: hint?.(sample) ?? null }))
      const told = await referenceOf(
        teacher,
        read.map(({ sample, hint }) => (hint ? reopened(sample, hint.plain, hint.hinted) : sample)),
        temperature,
      )
      const judged = new Map(
        read.map(({ sample, hint }, i) => {
          const longer = hint ? hint.hinted.length - hint.plain.length : 0
          const thought = (t: number) => told[i]?.[t - 1 + longer] ?? 0
          return [sample, judgedBy(sample, thought, most)]
        }),
      )
      const gradients = context.gradients.map((one) => ({
        ...one,
        deposits: one.deposits.map((sample) => judged.get(sample) ?? sample),
      }))
      return practice.step({ ...context, gradients })
    },
  }
}

/** @param thought the teacher's log-probability of the token at a place of the sample. */
function judgedBy(sample: PolicySample, thought: (t: number) => number, most: number): PolicySample {
  const advantages = sample.sampled.map((sampled, t) => {
    if (!sampled || t === 0) return 0
    return Math.max(-most, Math.min(most, thought(t) - (sample.behaviourLogprobs[t] ?? 0)))
  })
  return { ...sample, advantages }
}
