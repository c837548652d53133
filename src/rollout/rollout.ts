import { type Agent, type ParameterBinding, runEpisode } from '../agent/index.ts'
import { type Environment, GroupId, seedOf, type Task, type Trajectory } from '../core/index.ts'

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
  /** Names the batch; with the task and the attempt it keys all randomness and the trajectories' ids (invariant 12). */
  readonly batch: string
  /** The values in force; called once an episode, with the episode's own seed and abort signal. */
  readonly bind: (episode: {
    readonly seed: number
    readonly signal: AbortSignal
  }) => Readonly<Record<string, ParameterBinding>>
  /** Episodes open at once. Default 128. */
  readonly concurrency?: number
  readonly straggler?: StragglerCut
  /** Episodes already recorded by an earlier process: they are returned, not run again. */
  readonly completed?: readonly Trajectory[]
  readonly onTrajectory?: (trajectory: Trajectory) => void
  readonly signal?: AbortSignal
  readonly now: () => number
}

interface Attempt {
  readonly id: string
  readonly task: Task
  readonly group: GroupId
  readonly attempt: number
  readonly seed: number
}

function attemptsOf({ tasks, attempts = 1, batch }: RolloutRequest): readonly Attempt[] {
  return tasks.flatMap((task) =>
    Array.from({ length: attempts }, (_, attempt) => ({
      id: `${batch}/${task.id}/${attempt}`,
      task,
      group: GroupId.parse(`${batch}/${task.id}`),
      attempt,
      seed: seedOf(batch, task.id, attempt),
    })),
  )
}

/**
 * Runs many episodes at once and returns their trajectories in the order of tasks and attempts, whatever order they
 * ended in. An episode that fails is data with a stop reason; nothing that happens inside one throws here.
 */
export async function rollout(request: RolloutRequest): Promise<readonly Trajectory[]> {
  const { concurrency = 128, straggler, completed = [], onTrajectory, now } = request
  const attempts = attemptsOf(request)
  const done = new Map<string, Trajectory>(completed.map((trajectory) => [trajectory.id, trajectory]))
  const waiting = attempts.filter(({ id }) => !done.has(id))
  const enough = straggler ? Math.ceil(straggler.finished * attempts.length) : Number.POSITIVE_INFINITY

  const cut = new AbortController()
  const signal = request.signal ? AbortSignal.any([request.signal, cut.signal]) : cut.signal

  const runOne = async (attempt: Attempt) => {
    const bindings = request.bind({ seed: attempt.seed, signal })
    const { agent, environment } = request
    const trajectory = await runEpisode({ ...attempt, agent, environment, bindings, now })
    const wasCut = trajectory.stopReason === 'cancelled' && cut.signal.aborted && !request.signal?.aborted
    const recorded: Trajectory = wasCut ? { ...trajectory, stopReason: 'straggler' } : trajectory
    done.set(attempt.id, recorded)
    onTrajectory?.(recorded)
    if (done.size >= enough) cut.abort()
  }
  const worker = async () => {
    for (let next = waiting.shift(); next && !signal.aborted; next = waiting.shift()) await runOne(next)
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, waiting.length) }, worker))
  return attempts.flatMap(({ id }) => done.get(id) ?? [])
}
