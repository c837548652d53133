import { groupAttempts, rng, type ScoredTrajectory, type Task } from '../../../core/index.ts'
import { runBatch } from '../../episodes.ts'
import type { Actor } from './acting.ts'
import type { RolloutRun } from './rollout-run.ts'
import { successesIn } from './rehearsal.ts'
import type { Success } from '../../run/state.ts'
import { failingFamilies } from '../../steer/index.ts'

/** Attempts at a task with a hint. */
const guidedAttempts = 2

/**
 * More attempts at tasks of families on which next to nothing succeeds: with the hint that `guide` gives of a task
 * (Agent-RLVR: Da et al. 2025), else many of them at a higher temperature. What succeeds is imitated; no policy gradient sees
 * it, since it was sampled in another way.
 */
export async function explore(run: RolloutRun, actor: Actor): Promise<readonly ScoredTrajectory[]> {
  const { options, schedule, state, familyOf } = run
  const failing = new Set(failingFamilies(state.standing))
  const tasks = rng('explore', options.seed ?? 0, state.update)
    .shuffle(options.source.train)
    .filter((task) => failing.has(familyOf(task)))
    .slice(0, schedule.explorationTasks)
  const guided = tasks.flatMap((task) => {
    const hint = options.guide?.(task) ?? null
    return hint === null ? [] : [{ ...task, instruction: `${task.instruction}\n${hint}` }]
  })
  const alone = tasks.filter(({ id }) => !guided.some((task) => task.id === id))
  const attempt = async (name: string, tried: readonly Task<'train'>[], attempts: number, temperature: number) => {
    if (tried.length === 0) return []
    return runBatch(run, { ...actor, temperature }, { name: `update-${state.update}-${name}`, tasks: tried, attempts })
  }
  return [
    ...(await attempt('guided', guided, guidedAttempts, schedule.temperature)),
    ...(await attempt('explored', alone, schedule.explorationAttempts, schedule.explorationTemperature)),
  ]
}

/** One success of each explored task that has one. */
export function wonByExploring(
  { options, familyOf, successThreshold }: RolloutRun,
  explored: readonly ScoredTrajectory[],
): readonly Success[] {
  return groupAttempts(explored).flatMap((group) => {
    const [first] = group.attempts
    const task = options.source.train.find(({ id }) => id === first?.trajectory.task.id)
    if (!first || !task) return []
    return successesIn([group], successThreshold, () => familyOf(task))
  })
}
