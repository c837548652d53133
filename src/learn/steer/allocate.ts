import type { Rng } from '../../core/index.ts'
import { rateOf, type Standing } from './standing.ts'
import { weightedDraw } from './weighted-draw.ts'

/** What every family gets however little it teaches: mastered ones are watched, and dead ones are tried. */
const floor = 0.25

/**
 * How much an attempt at a family teaches: learnability p(1 − p), scaled to [0, 1], over a floor. A group of attempts tells
 * most where success is a matter of chance (Tzannetos et al. 2023; Foster & Foerster 2025).
 */
export function teaches(standing: Standing, family: string): number {
  const rate = rateOf(standing, family)
  return floor + 4 * rate * (1 - rate)
}

/**
 * Draws tasks without repetition, each with a weight that its family decides. Where there are no more than `count`, all of them.
 */
export function allocate<T>(
  tasks: readonly T[],
  familyOf: (task: T) => string,
  count: number,
  standing: Standing,
  random: Rng,
): readonly T[] {
  const weights = new Map<string, number>()
  const weightOf = (task: T) => {
    const family = familyOf(task)
    const weight = weights.get(family) ?? teaches(standing, family)
    weights.set(family, weight)
    return weight
  }
  return weightedDraw(tasks, weightOf, count, random)
}
