import type { Credit, CreditEstimator, Decision, Trajectory } from '../../core/index.ts'
import { CreditError } from '../credit-error.ts'
import { requireWithin } from '../option.ts'
import { knownRewards, mean } from '../outcome.ts'
import { withoutPraise } from '../veto.ts'

export interface HindsightOptions {
  /**
   * What the policy thinks of what it said, once it has read the hint that came later: the log-probability at temperature 1
   * of each token that the Decision sampled, with the hint in the prompt. `null` where there was no hint.
   */
  readonly hinted: (
    trajectory: Trajectory,
    decision: Decision,
  ) => Promise<readonly number[] | null> | readonly number[] | null
  /** The most that a Decision is credited or blamed, above 0, in natural logarithms a token. Default 1. */
  readonly most?: number
}

/**
 * What a user's correction says of what was said before it: A = mean over tokens of log π(a | s + hint) − log π(a | s), within
 * ±`most`. What the policy would have said all the more with the hint is praised, what it would not have said is blamed.
 *
 * Hindsight hints of on-policy distillation (OPD, "OpenClaw-RL", 2026). The tokens are those that were sampled, and their
 * log-probabilities without the hint those that were recorded. It compares with no other attempt: groups of one will do.
 * @throws CreditError when there are not as many log-probabilities as sampled tokens.
 */
export function hindsight({ hinted, most = 1 }: HindsightOptions): CreditEstimator {
  requireWithin(most, { estimator: 'hindsight', option: 'most', least: 1e-9, most: Number.MAX_VALUE })
  return {
    name: 'hindsight',
    async credit(groups) {
      const credits: Credit[] = []
      const attempts = groups.flatMap((group) => group.attempts)
      const known = groups.flatMap(knownRewards).map(({ attempt }) => attempt)
      let unhinted = 0
      for (const { trajectory } of known) {
        for (const decision of trajectory.decisions) {
          const advantage = await shift(trajectory, decision, hinted)
          if (advantage === null) unhinted++
          else
            credits.push({
              trajectory: trajectory.id,
              decision: decision.id,
              advantage: Math.max(-most, Math.min(most, advantage)),
            })
        }
      }
      const vetoed = attempts.filter(({ reward }) => reward.status === 'vetoed').length
      const counts = { missing: attempts.length - known.length, uniformGroups: 0, singletonGroups: 0, vetoed, unhinted }
      return { credits: withoutPraise(credits, groups), counts }
    },
  }
}

/** How much likelier the hint makes what was said, a token; `null` where nothing was sampled, or there was no hint. */
async function shift(trajectory: Trajectory, decision: Decision, hinted: HindsightOptions['hinted']) {
  const said = trajectory.nodes.find(({ id }) => id === decision.output)
  const before = (said?.spans ?? []).flatMap((span) => (span.kind === 'sampled' ? span.logprobs : []))
  if (before.length === 0) return null
  const after = await hinted(trajectory, decision)
  if (after === null) return null
  if (after.length === before.length) return mean(after.map((logprob, i) => logprob - (before[i] ?? 0)))
  throw new CreditError({
    code: 'credit/bad-hint',
    message: `Decision "${decision.id}" sampled ${before.length} tokens, and the hint gives ${after.length} log-probabilities.`,
    hint: 'Give one log-probability for each sampled token, or null where there was no hint.',
  })
}
