import {
  branches,
  type Demonstration,
  type Group,
  type NodeId,
  type Rng,
  rewardsOf,
  type ScoredTrajectory,
  type Trajectory,
} from '../core/index.ts'
import { type FamilyOf, rateOf, type Standing, weightedDraw } from './steer/index.ts'
import type { LearnState } from './state.ts'

/** Successes that are kept, at most. */
const kept = 256

type Successes = LearnState['successes']

/**
 * Keeps the successes of groups in which at most half of the attempts succeeded: where success is common, the policy needs no
 * reminder. A group gives one, and of the oldest as many go as there are too many.
 */
export function withSuccesses(
  before: Successes,
  groups: readonly Group[],
  ceiling: number,
  familyOf: FamilyOf,
): Successes {
  const fresh = groups.flatMap(({ attempts, ...group }) => {
    const rewards = rewardsOf({ ...group, attempts })
    const won = attempts.filter((one) => isExample(one, ceiling))
    const [first] = won
    if (first === undefined || won.length > rewards.length / 2) return []
    return [{ family: familyOf(first.trajectory.task), trajectory: first.trajectory.id }]
  })
  return [...before, ...fresh].slice(-kept)
}

/** Whether an episode may be imitated: it came to its own end, and earned all there is (invariant 5). */
const isExample = ({ trajectory, reward }: ScoredTrajectory, ceiling: number): boolean =>
  trajectory.stopReason === 'done' && reward.status === 'scored' && reward.value >= ceiling

/** What the policy sampled in an episode, to be imitated. What an earlier branch holds is context in a later one. */
export function imitable(trajectory: Trajectory): readonly Demonstration[] {
  const held = new Set<NodeId>()
  return branches(trajectory).map((path) => {
    const spans = path.flatMap(({ id, spans }) => spans.map((span) => ({ ...span, fresh: !held.has(id) })))
    for (const { id } of path) held.add(id)
    return {
      tokens: spans.flatMap(({ tokens }) => [...tokens]),
      learn: spans.flatMap(({ kind, tokens, fresh }) => tokens.map(() => fresh && kind === 'sampled')),
    }
  })
}

/** Something to rehearse, and the family that it is of. */
export interface Rehearsable<T> {
  readonly family: string
  readonly item: T
}

/** What even a mastered family is rehearsed by. */
const floor = 0.02

/** Draws what to rehearse: from each family the more, the less often it succeeds, however many of it there are. */
export function drawRehearsal<T>(
  pool: readonly Rehearsable<T>[],
  count: number,
  standing: Standing,
  random: Rng,
): readonly T[] {
  const sizes = new Map<string, number>()
  for (const { family } of pool) sizes.set(family, (sizes.get(family) ?? 0) + 1)
  const weightOf = ({ family }: Rehearsable<T>) =>
    (floor + (1 - rateOf(standing, family)) ** 2) / (sizes.get(family) ?? 1)
  return weightedDraw(pool, weightOf, count, random).map(({ item }) => item)
}
