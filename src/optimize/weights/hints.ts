import type { PolicySample } from '../../core/index.ts'
import { OptimizeError } from './errors.ts'

/** How an episode begins with a hint, and without: both as the renderer lays them out, ready for the first turn. */
export interface Openings {
  readonly hinted: readonly number[]
  readonly plain: readonly number[]
}

/**
 * Experience stripping: a sample of a policy that read a hint (experience, a plan, where an error is) as it would be without it,
 * so that the weights learn to do alone what the hint made them do (AgentEvolver, Zhai et al. 2025, self-navigating; hints after
 * a failure: Agent-RLVR, Da et al. 2025). What was sampled stays, with the probabilities that it had: they are another policy's,
 * and `policyGradient` bounds such samples by its `strippedClipHigh`.
 *
 * Hint a part of a group's attempts (AgentEvolver: half), and none where the agent is measured.
 * @throws OptimizeError (`optimize/other-opening`) for a sample that does not begin with the hinted opening, or sampled part of it.
 */
export function stripHint(sample: PolicySample, { hinted, plain }: Openings): PolicySample {
  return { ...reopened(sample, hinted, plain), stripped: true }
}

/**
 * A sample after another opening: the same tokens sampled, nothing known of what the policy would have thought there.
 * @throws OptimizeError for a sample that does not begin with `from`, or sampled part of it.
 */
export function reopened(sample: PolicySample, from: readonly number[], to: readonly number[]): PolicySample {
  const begins = from.every((token, t) => sample.tokens[t] === token && sample.sampled[t] === false)
  if (!begins) {
    throw new OptimizeError({
      code: 'optimize/other-opening',
      message: `A sample of ${sample.tokens.length} tokens does not begin with the ${from.length} tokens of the given opening, or sampled some of them.`,
      hint: 'Give the opening as the episode had it: renderer.start(messages, tools) of the messages before its first turn.',
    })
  }
  const after = <T>(values: readonly T[], filler: T) => [...to.map(() => filler), ...values.slice(from.length)]
  return {
    ...sample,
    tokens: [...to, ...sample.tokens.slice(from.length)],
    advantages: after(sample.advantages, 0),
    behaviourLogprobs: after(sample.behaviourLogprobs, 0),
    sampled: after(sample.sampled, false),
    ...(sample.recalled && { recalled: after(sample.recalled, false) }),
  }
}
