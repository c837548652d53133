import type { Group, ParameterName } from '../../core/index.ts'
import type { WeightedDemonstration } from './datum.ts'
import { requireOption } from './errors.ts'
import { imitable, isWhole } from './own-episodes.ts'

/** What an own episode's imitation weighs. */
export interface SelfImitationOptions {
  /**
   * - `reward`: R, for rewards of at least 0 (AgentEvol, Xi et al. 2024, equation 5);
   * - `surplus`: (R − V)⁺, what it earned beyond its group's mean (self-imitation learning, Oh et al. 2018);
   * - `exponential`: exp((R − max) / temperature), with the best of all attempts at 1 (reward-weighted regression, Peters &
   *   Schaal 2007).
   *
   * Default `reward`.
   */
  readonly weigh?: 'reward' | 'surplus' | 'exponential'
  /** `exponential` only, above 0, in the reward's unit. Default 1. */
  readonly temperature?: number
  /** The weights that imitate: what others said is context. Default: all that was sampled is theirs. */
  readonly parameter?: ParameterName
}

/**
 * Own episodes to be imitated, each the more the more it earned: reward-weighted self-imitation. Those that did not come to
 * their own end, were vetoed or not scored are left out (invariant 5), and so is what weighs nothing. {@link supervisedPass} takes
 * the weights as they are; their mean is the batch's, so that only what they are to each other counts.
 * @throws OptimizeError for a reward below 0 that is to be a weight, and a temperature that is not above 0.
 */
export function selfImitation(
  groups: readonly Group[],
  { weigh = 'reward', temperature = 1, parameter }: SelfImitationOptions = {},
): readonly WeightedDemonstration[] {
  requireOption(temperature > 0, `The temperature of self-imitation is ${temperature}`, 'Make it above 0')
  const whole = groups.map(({ attempts }) => attempts.filter(isWhole))
  const most = whole.flat().reduce((best, { reward }) => Math.max(best, reward.value), Number.NEGATIVE_INFINITY)
  return whole.flatMap((attempts, i) => {
    const baseline = meanReward(groups[i])
    return attempts.flatMap(({ trajectory, reward: { value } }) => {
      requireOption(
        weigh !== 'reward' || value >= 0,
        `An episode earned ${value}, which cannot weigh it`,
        "Weigh by 'surplus' or 'exponential' where rewards can be below 0",
      )
      const weight = { reward: value, surplus: value - baseline, exponential: Math.exp((value - most) / temperature) }[
        weigh
      ]
      return weight > 0 ? imitable(trajectory, { parameter }).map((one) => ({ ...one, weight })) : []
    })
  })
}

/** Over all attempts that earned anything, broken ones among them: V is what the policy comes to. */
function meanReward(group: Group | undefined): number {
  const values = (group?.attempts ?? []).flatMap(({ reward }) => (reward.status === 'missing' ? [] : [reward.value]))
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
