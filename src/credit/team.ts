import type { Credit, CreditEstimator, ParameterName, Trajectory } from '../core/index.ts'
import { CreditError } from './credit-error.ts'
import { knownRewards, mean } from './outcome.ts'
import { shapley } from './shapley.ts'
import { withoutPraise } from './veto.ts'

export interface TeamOptions {
  /**
   * `difference`: what the whole loses without the member. `shapley`: the member's part, so that the parts add up to what
   * the attempt earned beyond nobody. Default `difference`.
   */
  readonly share?: 'difference' | 'shapley'
  /** The Parameters that are the team; others get no credit. Default: all that decided anything in the group. */
  readonly members?: readonly ParameterName[]
  /** What is earned when no member takes part. Default: what such attempts of the group earned, where there are any. */
  readonly nobody?: number
}

/** Larger teams have more coalitions than a group can show. */
const largest = 12

/**
 * Decomposes an outcome over a team of Parameters, from attempts that some of them took no part in: for an attempt of
 * coalition S that earned R, and v(T) the mean of the group's attempts of exactly the coalition T,
 *
 * - difference rewards Dᵢ = R − v(S∖i) (Wolpert & Tumer 2002; the counterfactual baseline of COMA, Foerster et al. 2018);
 * - Shapley values φᵢ = Σ_T⊆S∖i |T|!(|S|−|T|−1)!/|S|! · (v(T∪i) − v(T)), with v(S) = R (Shapley 1953), which add up to
 *   R − v(∅).
 *
 * Both are exact, and what is taken off R comes from other attempts: the member's policy gradient stays unbiased, in
 * `shapley` times 1/|S|. QMIX (Rashid et al. 2018) learns a monotonic mixing of per-member values, so that each member can
 * act greedily by its own; no such mixer is here, and none is needed to credit what was played. What this does not do: tell
 * members apart that always act together. Their coalitions are not in the group, and such Decisions are counted.
 * @throws CreditError for `shapley` over more than 12 members.
 */
export function team({ share = 'difference', members, nobody }: TeamOptions = {}): CreditEstimator {
  return {
    name: `team-${share}`,
    async credit(groups) {
      const credits: Credit[] = []
      const counts = { missing: 0, uniformGroups: 0, singletonGroups: 0, vetoed: 0, incomparable: 0 }
      for (const group of groups) {
        const known = knownRewards(group)
        const rewards = known.map(({ value }) => value)
        counts.missing += group.attempts.length - known.length
        counts.vetoed += group.attempts.filter(({ reward }) => reward.status === 'vetoed').length
        if (known.length < 2) counts.singletonGroups++
        else if (rewards.every((reward) => reward === rewards[0] && reward === (nobody ?? reward)))
          counts.uniformGroups++
        else {
          const coalitions = known.map(({ attempt }) => coalitionOf(attempt.trajectory, members))
          const worth = worthOf(coalitions, rewards, nobody)
          for (const [i, { attempt, value }] of known.entries()) {
            const parts = partsOf(coalitions[i] ?? [], value, worth, share)
            for (const { id, parameter } of attempt.trajectory.decisions) {
              const advantage = parts.get(parameter)
              if (advantage === undefined) continue
              if (advantage === null) counts.incomparable++
              else credits.push({ trajectory: attempt.trajectory.id, decision: id, advantage })
            }
          }
        }
      }
      return { credits: withoutPraise(credits, groups), counts }
    },
  }
}

type Worth = (coalition: readonly ParameterName[]) => number | null

/** The members that decided anything in an attempt, in the order of their names. */
function coalitionOf({ decisions }: Trajectory, members: readonly ParameterName[] | undefined) {
  const present = new Set(decisions.map(({ parameter }) => parameter))
  return [...present].filter((name) => members?.includes(name) ?? true).toSorted()
}

/** The mean of the attempts of exactly a coalition; `null` where the group has none. */
function worthOf(
  coalitions: readonly (readonly ParameterName[])[],
  rewards: readonly number[],
  nobody: number | undefined,
): Worth {
  const earned = new Map<string, number[]>()
  for (const [i, coalition] of coalitions.entries()) {
    const key = JSON.stringify(coalition)
    const of = earned.get(key) ?? []
    of.push(rewards[i] ?? 0)
    earned.set(key, of)
  }
  return (coalition) => {
    if (coalition.length === 0 && nobody !== undefined) return nobody
    const of = earned.get(JSON.stringify(coalition))
    return of ? mean(of) : null
  }
}

/** What each member of an attempt's coalition is credited with; `null` where a coalition that it takes is not known. */
function partsOf(
  coalition: readonly ParameterName[],
  reward: number,
  worth: Worth,
  share: 'difference' | 'shapley',
): ReadonlyMap<ParameterName, number | null> {
  if (share === 'difference') {
    return new Map(
      coalition.map((member) => {
        const without = worth(coalition.filter((each) => each !== member))
        return [member, without === null ? null : reward - without]
      }),
    )
  }
  if (coalition.length > largest) {
    throw new CreditError({
      code: 'credit/large-team',
      message: `A team of ${coalition.length} members has ${2 ** coalition.length} coalitions.`,
      hint: `Name at most ${largest} members, or take share: 'difference', which needs one coalition a member.`,
    })
  }
  return shapley(coalition, (of) => (of.length === coalition.length ? reward : worth(of)))
}
