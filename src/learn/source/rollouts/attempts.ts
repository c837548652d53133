import { groupAttempts, rewardsOf, rng, type ScoredTrajectory, type Task } from '../../../core/index.ts'
import { runBatch } from '../../episodes.ts'
import type { Actor } from './acting.ts'
import { succeeded } from './evaluate.ts'
import type { RolloutRun } from './rollout-run.ts'
import { wantedGroups } from './schedule.ts'
import { allocate } from '../../steer/index.ts'

/** What an update learns from, and in how many rounds it was sampled. */
export interface Sampled {
  readonly scored: readonly ScoredTrajectory[]
  /** Those of the first round: what came later was chosen by how the first ended, and measures nothing. */
  readonly first: readonly ScoredTrajectory[]
  readonly rounds: number
}

/** Success above which failures are few: to find them, more tasks are attempted, half as often each. */
const common = 0.7
const wider = 1.5

/**
 * Attempts at tasks that teach: families on which success is a matter of chance come most often. Where not half
 * as many groups as wanted differ in reward, tasks at which an attempt failed are attempted on, for at most
 * `schedule.rounds` rounds (adaptive sampling: Xiong et al. 2025, Reinforce-Ada; dynamic sampling: Yu et al. 2025, DAPO).
 */
export async function attemptTasks(run: RolloutRun, actor: Actor): Promise<Sampled> {
  const { schedule, state } = run
  const policy = { ...actor, temperature: schedule.temperature }
  const count = Math.round(schedule.tasks * wider)
  const rare = (state.signs.at(-1)?.overall ?? 0) >= common && run.options.source.train.length >= count
  const wide = rare && schedule.allocation === 'learnability'
  const random = rng('asked', run.options.seed ?? 0, state.update)
  const tasks = tasksOf(run, wide ? count : schedule.tasks).map((task) =>
    random.next() < schedule.rewording ? run.demonstrations.augmenter.asked(task, random) : task,
  )
  const name = `update-${state.update}`
  const attempts = wide ? Math.max(2, Math.round(schedule.attempts / 2)) : schedule.attempts
  const first = await runBatch(run, policy, { name, tasks, attempts, straggler: schedule.straggler })
  let scored = first
  let rounds = 1
  while (rounds < schedule.rounds && informativeOf(scored) < wantedGroups(schedule) / 2) {
    const failing = tasks.filter(failedIn(run, scored)).slice(0, Math.ceil(schedule.tasks / 4))
    if (failing.length === 0) break
    rounds++
    const again = await runBatch(run, policy, { name, tasks: failing, attempts: schedule.attempts * rounds })
    const retried = new Set<string>(failing.map(({ id }) => id))
    scored = [...scored.filter(({ trajectory }) => !retried.has(trajectory.task.id)), ...again]
  }
  return { scored, first, rounds }
}

/** Groups whose attempts differ in reward. */
export const informativeOf = (scored: readonly ScoredTrajectory[]): number =>
  groupAttempts(scored).filter((group) => new Set(rewardsOf(group).filter((reward) => reward !== null)).size > 1).length

/** Whether an attempt at a task failed. */
function failedIn({ successThreshold }: RolloutRun, scored: readonly ScoredTrajectory[]): (task: Task) => boolean {
  const failed = new Set<string>()
  for (const { trajectory, reward } of scored) {
    if (succeeded(reward, successThreshold) === false) failed.add(trajectory.task.id)
  }
  return ({ id }) => failed.has(id)
}

/** An update's tasks: by how much their families teach; or all of them in turn, in a fresh order each pass. */
function tasksOf({ options, schedule, state, familyOf }: RolloutRun, count: number): readonly Task<'train'>[] {
  const { source, seed = 0 } = options
  if (schedule.allocation === 'uniform') return inTurn(source.train, count, state.update, seed)
  return allocate(source.train, familyOf, count, state.standing, rng('tasks', seed, state.update))
}

function inTurn(train: readonly Task<'train'>[], count: number, turn: number, seed: number): readonly Task<'train'>[] {
  const perPass = Math.max(1, Math.floor(train.length / count))
  const start = (turn % perPass) * count
  return rng('tasks', seed, Math.floor(turn / perPass))
    .shuffle(train)
    .slice(start, start + count)
}
