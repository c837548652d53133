import { setMaxListeners } from 'node:events'
import { type Agent, type ParameterBinding, runEpisode } from '../agent/index.ts'
import { type Environment, GroupId, seedOf, type Task, type Trajectory, TrajectoryId } from '../core/index.ts'
import { InputError } from '../errors/index.ts'

/** Ends a batch before its slowest episodes do, so that a few long ones do not hold up the rest. */
export interface StragglerCut {
  /** Share of all episodes that must have ended, in (0, 1]. */
  readonly finished: number
}

/** A batch of episodes: every task attempted `attempts` times. */
export interface RolloutRequest {
  readonly agent: Agent
  readonly environment: Environment
  readonly tasks: readonly Task[]
  /** Attempts at each task: they form one Group. Default 1. */
  readonly attempts?: number
  /** Names the batch; with the task and the attempt it makes the trajectories' ids. */
  readonly batch: string
  /** With the task and the attempt it keys all randomness (invariant 12). Default: the batch's name. */
  readonly seedKey?: string
  /** The values in force; called once an episode, with its task, the attempt at it, its own seed and its abort signal. */
  readonly bind: (episode: {
    readonly task: Task
    readonly attempt: number
    readonly seed: number
    readonly signal: AbortSignal
  }) => Readonly<Record<string, ParameterBinding>>
  /** Episodes open at once. Default 128. */
  readonly concurrency?: number
  readonly straggler?: StragglerCut
  /**
   * Episodes already recorded by an earlier process: they are returned, not run again, except cancelled ones, which the
   * caller stopped. Trajectories of other batches are ignored.
   */
  readonly completed?: readonly Trajectory[]
  /**
   * Told of each episode as it ends, except the cancelled ones. The episode's place is free when the promise resolves;
   * if it rejects, the rest of the batch is cancelled.
   */
  readonly onTrajectory?: (trajectory: Trajectory) => unknown
  readonly signal?: AbortSignal
  readonly now: () => number
  /** Whether each message says when it was recorded: for credit that reads it (`durationAware`). Default false. */
  readonly timed?: boolean
}

interface Attempt {
  readonly id: TrajectoryId
  readonly task: Task
  readonly group: GroupId
  readonly attempt: number
  readonly seed: number
}

function attemptsOf({ tasks, attempts = 1, batch, seedKey = batch }: RolloutRequest): readonly Attempt[] {
  const seen = new Set<string>()
  return tasks.flatMap((task) => {
    if (seen.has(task.id)) {
      throw new InputError({
        code: 'rollout/duplicate-task',
        message: `The task "${task.id}" is twice in the batch "${batch}": its episodes would be the same ones.`,
        hint: 'Give every task of a batch its own id, and use attempts to repeat one.',
      })
    }
    seen.add(task.id)
    const group = GroupId.parse(`${batch}/${task.id}`)
    return Array.from({ length: attempts }, (_, attempt) => ({
      id: TrajectoryId.parse(`${group}/${attempt}`),
      task,
      group,
      attempt,
      seed: seedOf(seedKey, task.id, attempt),
    }))
  })
}

/** Why a batch's last episodes are cut. */
const enoughEnded = new Error('enough episodes of the batch have ended')

/**
 * Runs many episodes at once and returns their trajectories in the order of tasks and attempts, whatever order they
 * ended in. An episode that fails is data with a stop reason; nothing that happens inside one throws here. Attempts that
 * had not begun when the batch was cut or cancelled are absent.
 * @throws InputError when a task is in the batch twice, and whatever `bind` or `onTrajectory` throw: only once no
 * episode is under way any more.
 */
export async function rollout(request: RolloutRequest): Promise<readonly Trajectory[]> {
  const {
    agent,
    environment,
    bind,
    concurrency = 128,
    straggler,
    completed = [],
    onTrajectory,
    now,
    timed = false,
  } = request
  const attempts = attemptsOf(request)
  const known = new Map(completed.map((trajectory) => [trajectory.id, trajectory]))
  const done = new Map<TrajectoryId, Trajectory>()
  for (const { id } of attempts) {
    const trajectory = known.get(id)
    if (trajectory && trajectory.stopReason !== 'cancelled') done.set(id, trajectory)
  }
  const enough = straggler ? Math.ceil(straggler.finished * attempts.length) : Number.POSITIVE_INFINITY

  const cut = new AbortController()
  const signal = request.signal ? AbortSignal.any([request.signal, cut.signal]) : cut.signal
  // Every episode listens to the one signal, by design: no leak to warn of.
  setMaxListeners(0, signal)

  const runOne = async (attempt: Attempt) => {
    const bindings = bind({ task: attempt.task, attempt: attempt.attempt, seed: attempt.seed, signal })
    const trajectory = await runEpisode({ ...attempt, agent, environment, bindings, now, timed, signal })
    const cancelled = trajectory.stopReason === 'cancelled'
    const straggled = cancelled && signal.reason === enoughEnded
    const recorded: Trajectory = straggled ? { ...trajectory, stopReason: 'straggler' } : trajectory
    done.set(attempt.id, recorded)
    if (done.size >= enough) cut.abort(enoughEnded)
    if (!cancelled || straggled) await onTrajectory?.(recorded)
  }
  const unstarted = attempts.filter(({ id }) => !done.has(id))
  const queue = unstarted.values()
  const worker = async () => {
    try {
      for (const attempt of queue) {
        if (signal.aborted) return
        await runOne(attempt)
      }
    } catch (error) {
      cut.abort(error)
      throw error
    }
  }
  if (done.size >= enough) cut.abort(enoughEnded)
  const workers = Math.min(Math.max(1, concurrency), unstarted.length)
  const ended = await Promise.allSettled(Array.from({ length: workers }, worker))
  for (const end of ended) if (end.status === 'rejected') throw end.reason
  return attempts.flatMap(({ id }) => done.get(id) ?? [])
}
