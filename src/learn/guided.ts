import { type AdapterRef, rng, type Task } from '../core/index.ts'
import { runBatch } from './episodes.ts'
import { succeeded } from './evaluate.ts'
import type { LearningRun } from './learning-run.ts'
import type { Success } from './state.ts'

/** Tasks of one update that are attempted with a hint, at most, and attempts at each. */
const guidedTasks = 8
const guidedAttempts = 2

/** What guidance came to. */
export interface Guided {
  readonly attempts: number
  readonly successes: readonly Success[]
}

/**
 * Attempts at tasks of families on which nothing succeeds, with the hint that `guide` gives of each (Agent-RLVR: Da et al.
 * 2025). A success is rehearsed as if the hint had not been there; no policy gradient sees it, since it was sampled in
 * another context.
 * @param dead the families on which nothing succeeds.
 */
export async function attemptGuided(run: LearningRun, adapter: AdapterRef, dead: readonly string[]): Promise<Guided> {
  const { options, schedule, state, familyOf } = run
  const { guide, source } = options
  if (!guide || dead.length === 0) return { attempts: 0, successes: [] }
  const lost = new Set(dead)
  const candidates = rng('guided', options.seed ?? 0, state.update)
    .shuffle(source.train)
    .filter((task) => lost.has(familyOf(task)))
  const tasks: Task<'train'>[] = []
  const original = new Map<string, Task<'train'>>()
  for (const task of candidates) {
    const hint = guide(task)
    if (hint === null) continue
    original.set(task.id, task)
    tasks.push({ ...task, instruction: `${task.instruction}\n${hint}` })
    if (tasks.length === guidedTasks) break
  }
  if (tasks.length === 0) return { attempts: 0, successes: [] }
  const inForce = run.inForce(run.servingVersion.id, state.update)
  const policy = { adapter, inForce, temperature: schedule.temperature }
  const name = `update-${state.update}-guided`
  const scored = await runBatch(run, policy, { name, tasks, attempts: guidedAttempts })
  const successes = scored.flatMap(({ trajectory, reward }) => {
    const task = original.get(trajectory.task.id)
    const won = trajectory.stopReason === 'done' && succeeded(reward, options.reward.ceiling) === true
    return won && task ? [{ family: familyOf(task), trajectory: trajectory.id, instruction: task.instruction }] : []
  })
  return { attempts: scored.length, successes }
}
