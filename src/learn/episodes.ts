import {
  type ActsInEpisode,
  type Agent,
  bindingsOf,
  type EpisodeBudget,
  ForcedTurns,
  type Models,
} from '../agent/index.ts'
import {
  type AdapterRef,
  type Clock,
  defaultTenant,
  type ParameterName,
  type Run,
  type Sampler,
  type ScoredTrajectory,
  type Task,
  type TaskId,
  type Tenant,
  type Trainer,
  type Trajectory,
  TrajectoryId,
  type VersionId,
  type VersionInForce,
} from '../core/index.ts'
import { rollout, type RolloutRequest } from '../rollout/index.ts'
import type { LearnEvent } from './events.ts'
import { checkedEnvironment } from './preflight/index.ts'
import type { Acting, ServingVersions } from './run/serving.ts'
import type { LearnOptions, RolloutOptions } from './options.ts'
import type { Schedule } from './source/rollouts/schedule.ts'
import type { RolloutSource } from './source.ts'

/** Seconds that one call of an environment may take: a run that repeats cannot depend on the clock. */
export const callSecondsOf = ({
  callSeconds,
  deterministic = false,
}: Pick<RolloutOptions, 'callSeconds' | 'deterministic'>) =>
  callSeconds ?? (deterministic ? Number.POSITIVE_INFINITY : 60)

/** The run that episodes belong to, as far as they need it. */
export interface EpisodeHost {
  readonly agent: Agent
  readonly run: Pick<Run, 'id'>
  readonly clock: Clock
  /** What answers for each of the agent's weights. */
  readonly models: Models
  readonly options: Pick<LearnOptions, 'store' | 'reward' | 'credit' | 'seed' | 'signal'> & {
    readonly callSeconds?: number
    readonly deterministic?: boolean
    readonly source: Pick<RolloutSource, 'environment'>
  }
  readonly schedule: Pick<Schedule, 'concurrency'>
  readonly budget: EpisodeBudget
  readonly serving: ServingVersions
  /** Whose agent it is, as far as what acts asks. Default: the default tenant's. */
  readonly tenant?: Tenant
  inForce(version: VersionId, checkpoint: number | null): VersionInForce
  emit(event: Extract<LearnEvent, { readonly type: 'progress' }>): void
}

/** What acts: weights and how they sample, and the values of the other Parameters. */
export interface Policy {
  /** Of every Parameter of weights its adapter, loaded; `null` is the base model exactly. */
  readonly weights: ReadonlyMap<
    ParameterName,
    { readonly adapter: AdapterRef | null; readonly inForce: VersionInForce }
  >
  /** What else acts; of all that is not in it, what serves. */
  readonly others?: Acting
  /** 0 is greedy. */
  readonly temperature: number
  /** What some weights are made to say first in an attempt; `null`: nothing. */
  readonly forced?: (task: TaskId, attempt: number) => Forced | null
}

/** What some weights are made to say first: tokens turn by turn, each with its stop token. */
export interface Forced {
  readonly parameter: ParameterName
  readonly turns: readonly (readonly number[])[]
}

/** A batch of episodes. Its name makes their ids, and with the run's seed it keys their randomness. */
export interface Batch {
  readonly name: string
  readonly tasks: readonly Task[]
  readonly attempts: number
  /** End the batch when this share of its episodes has ended. Evaluations never: every task is to be answered. */
  readonly straggler?: number | undefined
  /** The batch whose chance it shares, so that the two differ in what acts alone. Default: none, its own. */
  readonly chanceOf?: string
}

/** The id under which an attempt of a run's batch is recorded. */
export function episodeId(run: string, batch: string, task: string, attempt: number): TrajectoryId {
  return TrajectoryId.parse(`${run}/${batch}/${task}/${attempt}`)
}

/** What acts in one episode: what the policy says, and what serves for all others. */
function actsIn(
  run: EpisodeHost,
  { weights, temperature, others, forced }: Policy,
  { task, attempt, seed, signal }: Parameters<RolloutRequest['bind']>[0],
): ActsInEpisode {
  const first = forced?.(task.id, attempt) ?? null
  return {
    seed,
    audience: { tenant: run.tenant ?? defaultTenant, subject: null, at: run.clock.now() },
    values(name) {
      const version = run.serving.versions.get(name)
      return others?.get(name) ?? (version && { value: version.value, inForce: run.inForce(version.id, null) })
    },
    weights(name) {
      const [acting, model] = [weights.get(name), run.models.get(name)]
      if (!acting || !model) return null
      return {
        ...acting,
        sampler: model.sampler,
        renderer: model.renderer,
        sampling: { temperature },
        ...(first?.parameter === name && { forced: new ForcedTurns(first.turns) }),
        budget: run.budget,
        seed,
        signal,
        now: () => run.clock.now(),
      }
    },
  }
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
  const { store, reward, source, credit, seed = 0, signal } = run.options
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
    environment: checkedEnvironment(source.environment, callSecondsOf(run.options)),
    tasks: batch.tasks,
    attempts: batch.attempts,
    batch: name,
    seedKey: JSON.stringify([seed, batch.chanceOf ?? batch.name]),
    bind: (episode) => bindingsOf(run.agent, actsIn(run, policy, episode)),
    concurrency: run.schedule.concurrency,
    ...(batch.straggler === undefined ? {} : { straggler: { finished: batch.straggler } }),
    completed: [...scored.values()].map(({ trajectory }) => trajectory),
    onTrajectory: record,
    ...(signal ? { signal } : {}),
    now: () => run.clock.now(),
    timed: credit?.readsTimes ?? false,
  })
  signal?.throwIfAborted()
  return trajectories.flatMap(({ id }) => scored.get(id) ?? [])
}
