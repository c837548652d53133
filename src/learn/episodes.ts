import type { Agent, EpisodeBudget, ParameterBinding, VersionInForce } from '../agent/index.ts'
import {
  type AdapterRef,
  type Clock,
  type Run,
  type Sampler,
  type ScoredTrajectory,
  type Task,
  type Trainer,
  type Trajectory,
  TrajectoryId,
  type VersionId,
} from '../core/index.ts'
import { rollout } from '../rollout/index.ts'
import type { LearnEvent } from './events.ts'
import type { ServingVersions } from './run/learn-run.ts'
import type { LearnOptions } from './options.ts'
import type { Schedule } from './source/rollouts/schedule.ts'
import type { RolloutSource } from './source.ts'

/** The run that episodes belong to, as far as they need it. */
export interface EpisodeHost {
  readonly agent: Agent
  readonly run: Pick<Run, 'id'>
  readonly clock: Clock
  readonly options: Pick<LearnOptions, 'store' | 'reward' | 'model' | 'seed' | 'signal'> & {
    readonly source: Pick<RolloutSource, 'environment'>
  }
  readonly schedule: Pick<Schedule, 'concurrency'>
  readonly budget: EpisodeBudget
  readonly parameter: string
  readonly serving: ServingVersions
  inForce(version: VersionId, checkpoint: number | null): VersionInForce
  emit(event: Extract<LearnEvent, { readonly type: 'progress' }>): void
}

/** Which value of the learning Parameter acts, and how it samples. */
export interface Policy {
  /** `null` is the base model exactly. */
  readonly adapter: AdapterRef | null
  readonly inForce: VersionInForce
  /** 0 is greedy. */
  readonly temperature: number
}

/** A batch of episodes. Its name makes their ids, and with the run's seed it keys their randomness. */
export interface Batch {
  readonly name: string
  readonly tasks: readonly Task[]
  readonly attempts: number
  /** End the batch when this share of its episodes has ended. Evaluations never: every task is to be answered. */
  readonly straggler?: number | undefined
}

/** The id under which an attempt of a run's batch is recorded. */
export function episodeId(run: string, batch: string, task: string, attempt: number): TrajectoryId {
  return TrajectoryId.parse(`${run}/${batch}/${task}/${attempt}`)
}

/** The agent's bindings for one episode: the policy for the Parameter that learns, what serves for the others. */
function bindingsOf(
  run: EpisodeHost,
  policy: Policy,
  { seed, signal }: { readonly seed: number; readonly signal: AbortSignal },
): Record<string, ParameterBinding> {
  const { model } = run.options
  const bindings: Record<string, ParameterBinding> = {}
  for (const [name, version] of run.serving.versions) {
    if (name === run.parameter) {
      bindings[name] = {
        kind: 'weights',
        inForce: policy.inForce,
        sampler: model.sampler,
        renderer: model.renderer,
        adapter: policy.adapter,
        sampling: { temperature: policy.temperature },
        budget: run.budget,
        seed,
        signal,
        now: () => run.clock.now(),
      }
    } else if (version.value.kind === 'text') {
      bindings[name] = { kind: 'text', inForce: run.inForce(version.id, null), text: version.value.text }
    }
  }
  return bindings
}

/** Works with a trainer that was opened for it, and closes it at the end, whichever way it ends. */
export async function whileOpen<T>(trainer: Trainer, work: (trainer: Trainer) => Promise<T>): Promise<T> {
  try {
    return await work(trainer)
  } finally {
    await trainer.close()
  }
}

/** Works with an adapter that was loaded for it, and unloads it at the end, whichever way it ends. */
export async function whileLoaded<T>(
  sampler: Sampler,
  adapter: AdapterRef,
  work: (adapter: AdapterRef) => Promise<T>,
): Promise<T> {
  try {
    return await work(adapter)
  } finally {
    await sampler.unload(adapter)
  }
}

/**
 * Runs a batch, scores each episode as it ends and records it. Episodes that an earlier process recorded under the
 * same batch are taken from the store.
 */
export async function runBatch(run: EpisodeHost, policy: Policy, batch: Batch): Promise<readonly ScoredTrajectory[]> {
  const { store, reward, source, seed = 0, signal } = run.options
  const name = `${run.run.id}/${batch.name}`
  const scored = new Map<string, ScoredTrajectory>()
  for (const task of batch.tasks) {
    for (let attempt = 0; attempt < batch.attempts; attempt++) {
      const known = await store.trajectories.get(episodeId(run.run.id, batch.name, task.id, attempt))
      if (known) scored.set(known.trajectory.id, known)
    }
  }

  const total = batch.tasks.length * batch.attempts
  const record = async (trajectory: Trajectory) => {
    const earned = await reward.score(trajectory, [], run.clock.now())
    await store.trajectories.append([{ trajectory, reward: earned, run: run.run.id }])
    scored.set(trajectory.id, { trajectory, reward: earned })
    run.emit({ type: 'progress', phase: batch.name, done: scored.size, total })
  }
  const trajectories = await rollout({
    agent: run.agent,
    environment: source.environment,
    tasks: batch.tasks,
    attempts: batch.attempts,
    batch: name,
    seedKey: JSON.stringify([seed, batch.name]),
    bind: (episode) => bindingsOf(run, policy, episode),
    concurrency: run.schedule.concurrency,
    ...(batch.straggler === undefined ? {} : { straggler: { finished: batch.straggler } }),
    completed: [...scored.values()].map(({ trajectory }) => trajectory),
    onTrajectory: record,
    ...(signal ? { signal } : {}),
    now: () => run.clock.now(),
  })
  signal?.throwIfAborted()
  return trajectories.flatMap(({ id }) => scored.get(id) ?? [])
}
