import { calledTools, type Group, isForced, type Rng } from '../../../core/index.ts'
import { isExample } from '../../../optimize/weights/index.ts'
import { type FamilyOf, rateOf, type Standing, weightedDraw } from '../../steer/index.ts'
import type { Success } from '../../run/state.ts'

/** Successes that are kept, at most. */
const kept = 256

type Successes = readonly Success[]

/** One success of each group that has one, with its family. */
export const successesIn = (groups: readonly Group[], ceiling: number, familyOf: FamilyOf): Successes =>
  groups.flatMap(({ attempts }) => {
    const won = attempts.find((one) => isExample(one, ceiling))
    if (!won) return []
    const { task, nodes, id } = won.trajectory
    const tools = calledTools(nodes.map(({ message }) => message))
    const forced = nodes.some(({ spans }) => spans.some(isForced))
    return [{ family: familyOf(task), tools, trajectory: id, forced }]
  })

/**
 * At most 256 successes. Of too many the oldest go, of whichever family and tools there are the most: what seldom succeeds is
 * not crowded out.
 */
export function thinned(successes: Successes): Success[] {
  const sizes = new Map<string, number>()
  for (const one of successes) sizes.set(likeOf(one), (sizes.get(likeOf(one)) ?? 0) + 1)
  const dropped = new Map<string, number>()
  for (let excess = successes.length - kept; excess > 0; excess--) {
    const [largest] = [...sizes].reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0])
    sizes.set(largest, (sizes.get(largest) ?? 0) - 1)
    dropped.set(largest, (dropped.get(largest) ?? 0) + 1)
  }
  return successes.filter((one) => {
    const left = dropped.get(likeOf(one)) ?? 0
    if (left > 0) dropped.set(likeOf(one), left - 1)
    return left === 0
  })
}

/**
 * Successes of one family that use the same tools are alike; those with a forced act are of tasks that the policy fails, and
 * so another kind.
 */
const likeOf = ({ family, tools, forced }: Pick<Success, 'family' | 'tools' | 'forced'>): string =>
  JSON.stringify([family, tools, forced])

/** Something to rehearse, the family that it is of, and the tools that it uses. */
export interface Rehearsable<T> {
  readonly family: string
  readonly tools: readonly string[]
  /** Whether an act was forced in it. */
  readonly forced: boolean
  readonly item: T
}

/** What even a mastered family is rehearsed by. */
const floor = 0.02

/**
 * Draws what to rehearse: from each family the more, the less often it succeeds, however many of it there are. Within a family
 * each set of tools counts alike: own successes are the policy's favourite acts, and imitated by their number they would
 * crowd out the acts that the family's harder tasks need.
 */
export function drawRehearsal<T>(
  pool: readonly Rehearsable<T>[],
  count: number,
  standing: Standing,
  random: Rng,
): readonly T[] {
  const sizes = new Map<string, number>()
  const kinds = new Map<string, Set<string>>()
  for (const one of pool) {
    const like = likeOf(one)
    sizes.set(like, (sizes.get(like) ?? 0) + 1)
    kinds.set(one.family, (kinds.get(one.family) ?? new Set()).add(like))
  }
  const weightOf = (one: Rehearsable<T>) => {
    const share = (kinds.get(one.family)?.size ?? 1) * (sizes.get(likeOf(one)) ?? 1)
    return (floor + (1 - rateOf(standing, one.family)) ** 2) / share
  }
  return weightedDraw(pool, weightOf, count, random).map(({ item }) => item)
}
