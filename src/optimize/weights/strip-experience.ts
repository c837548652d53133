import type { PolicySample, WeightsOptimizer } from '../../core/index.ts'
import { count } from './datum.ts'

/**
 * Experience stripping (AgentEvolver, Zhai et al. 2025, self-navigating): weights learn from attempts that read what a memory
 * recalled as if they had not read it, so that they come to do alone what the experience made them do. Of each sample the tokens
 * are taken out that stand there only because something was recalled; what was sampled stays, with the probabilities that it
 * had. These are another policy's: the ratio of a token is π(a | s) / π_behaviour(a | s, experience), and `policyGradient`
 * bounds it from above by its `strippedClipHigh`, 1.6 by default, in the place of `clipHigh`.
 *
 * Let a part of each group's attempts recall nothing (`caseUtility({ withhold: 0.5 })`, AgentEvolver's share), so that those
 * that did are compared with those that did not; and none where the agent is measured and serves (`memory({ withhold: 1 })`).
 * Tokens of a message whose template says something else beside it cannot be told from others, and stay.
 * @param practice what learns from the samples then.
 */
export function stripExperience<P extends WeightsOptimizer>(practice: P): P {
  return {
    ...practice,
    name: `stripped-${practice.name}`,
    async step(context) {
      let [samples, tokens] = [0, 0]
      const gradients = context.gradients.map((gradient) => ({
        ...gradient,
        deposits: gradient.deposits.map((sample) => {
          const stripped = withoutRecalled(sample)
          if (stripped === sample) return sample
          samples++
          tokens += sample.tokens.length - stripped.tokens.length
          return stripped
        }),
      }))
      const stepped = await practice.step({ ...context, gradients })
      return { ...stepped, metrics: { ...stepped.metrics, strippedSamples: samples, strippedTokens: tokens } }
    },
  }
}

/** The sample without what was recalled; the same where nothing was. */
export function withoutRecalled(sample: PolicySample): PolicySample {
  const { recalled = [], ...rest } = sample
  if (count(recalled) === 0) return sample
  const left = <T>(values: readonly T[]) => values.filter((_, t) => recalled[t] !== true)
  return {
    ...rest,
    tokens: left(sample.tokens),
    advantages: left(sample.advantages),
    behaviourLogprobs: left(sample.behaviourLogprobs),
    sampled: left(sample.sampled),
    stripped: true,
  }
}
