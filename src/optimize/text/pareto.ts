import type { TaskId } from '../../core/index.ts'
import type { Earned } from './scores.ts'

/** What one earned of a task; without evidence less than anything. */
const at = (earned: Earned, task: TaskId): number => earned.get(task) ?? Number.NEGATIVE_INFINITY

/** Whether the first is nowhere worse than the second, and somewhere better. */
export function dominates(first: Earned, second: Earned, tasks: readonly TaskId[]): boolean {
  const better = tasks.some((task) => at(first, task) > at(second, task))
  return better && tasks.every((task) => at(first, task) >= at(second, task))
}

/**
 * How often each candidate is to be changed next: by the number of tasks on which nobody earned more (GEPA, Agrawal et al. 2025,
 * algorithm 2). Those that are dominated weigh nothing, so that the others' strengths are built on, each in its own tasks.
 * @param earned of each candidate, over the same tasks.
 * @returns a weight for each, ≥ 0; one is above 0 where anything is known.
 */
export function paretoWeights(earned: readonly Earned[], tasks: readonly TaskId[]): readonly number[] {
  const best = tasks.map((task) => Math.max(...earned.map((one) => at(one, task))))
  const leads = earned.map((one) =>
    tasks.map((task, i) => best[i] !== Number.NEGATIVE_INFINITY && at(one, task) === best[i]),
  )
  return earned.map((one, i) => {
    const isDominated = earned.some((other, j) => i !== j && dominates(other, one, tasks))
    return isDominated ? 0 : (leads[i] ?? []).filter(Boolean).length
  })
}

/** Draws an index with a chance in proportion to its weight; 0 where all weigh nothing. @param at uniform in [0, 1). */
export function drawnByWeight(weights: readonly number[], uniform: number): number {
  let left = uniform * weights.reduce((sum, weight) => sum + weight, 0)
  for (const [i, weight] of weights.entries()) {
    left -= weight
    if (left < 0) return i
  }
  return 0
}
