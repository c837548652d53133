import { type AdapterRef, groupAttempts, rewardsOf, rng, type ScoredTrajectory, type Task } from '../core/index.ts'
import { runBatch } from './episodes.ts'
import type { LearningRun } from './learning-run.ts'
import { wantedGroups } from './schedule.ts'
import { allocate } from './steer/index.ts'

/** What an update learns from, and in how many rounds it was sampled. */
export interface Sampled {
  readonly scored: readonly ScoredTrajectory[]
  readonly rounds: number
}

/**
 * Attempts at tasks that teach: families on which success is a matter of chance come most often. Where too few groups
 * differ in reward it samples on (dynamic sampling: Yu et al. 2025, DAPO), for at most `schedule.rounds` rounds.
 */
export async function attemptTasks(run: LearningRun, adapter: AdapterRef): Promise<Sampled> {
  const { schedule, state } = run
  const inForce = run.inForce(run.servingVersion.id, state.update)
  const policy = { adapter, inForce, temperature: state.temperature ?? schedule.temperature }
  const scored: ScoredTrajectory[] = []
  const seen = new Set<string>()
  for (let round = 0; ; round++) {
    const tasks = tasksOf(run, round, seen)
    for (const { id } of tasks) seen.add(id)
    const name = round === 0 ? `update-${state.update}` : `update-${state.update}-round-${round}`
    const { attempts, straggler } = schedule
    scored.push(...(await runBatch(run, policy, { name, tasks, attempts, straggler })))
    const informative = informativeOf(scored)
    const enough = informative >= wantedGroups(schedule)
    if (enough || round + 1 >= schedule.rounds || seen.size >= run.options.source.train.length) {
      return { scored, rounds: round + 1 }
    }
  }
}

/** Groups whose attempts differ in reward. */
export const informativeOf = (scored: readonly ScoredTrajectory[]): number =>
  groupAttempts(scored).filter((group) => new Set(rewardsOf(group).filter((reward) => reward !== null)).size > 1).length

/**
 * The tasks of a round that the update has not seen: by how much their families teach; or all of them in turn, in a fresh
 * order each pass.
 */
function tasksOf(
  { options, schedule, state, familyOf }: LearningRun,
  round: number,
  seen: ReadonlySet<string>,
): readonly Task<'train'>[] {
  const { train } = options.source
  const isNew = ({ id }: Task) => !seen.has(id)
  const { seed = 0 } = options
  if (schedule.allocation === 'learnability') {
    const random = rng('tasks', seed, state.update, round)
    return allocate(train.filter(isNew), familyOf, schedule.tasks, state.standing, random)
  }
  const perPass = Math.max(1, Math.floor(train.length / schedule.tasks))
  const turn = state.update * schedule.rounds + round
  const start = (turn % perPass) * schedule.tasks
  return rng('tasks', seed, Math.floor(turn / perPass))
    .shuffle(train)
    .slice(start, start + schedule.tasks)
    .filter(isNew)
}
