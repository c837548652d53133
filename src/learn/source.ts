import { z } from 'zod'
import type { Agent, EpisodeBudget } from '../agent/index.ts'
import {
  ClientName,
  defaultTenant,
  Duration,
  type Environment,
  type HoldoutTask,
  parseInput,
  type Rubric,
  type Split,
  type Task,
  Tenant,
} from '../core/index.ts'
import { type ImplicitOptions, ReporterLimits } from '../reward/index.ts'
import { LearnError } from './errors.ts'

/** Where episodes come from when an agent practises: an environment and its tasks, kept apart by split. */
export interface RolloutSource {
  readonly kind: 'rollouts'
  readonly environment: Environment
  readonly train: readonly Task<'train'>[]
  readonly validation: readonly Task<'validation'>[]
  readonly holdout: readonly HoldoutTask[]
}

/** Held-out tasks that judge what was learned from traffic; {@link rollouts} makes them. */
export interface HeldOut {
  readonly environment: Environment
  readonly holdout: readonly HoldoutTask[]
  /** Attempts the tasks: an agent with a program of its own and the Parameters of the one that learns. */
  readonly agent: Agent
  /** What an attempt earns. */
  readonly reward: Rubric
  readonly budget?: EpisodeBudget
}

/** An agent's own traffic: what it did for people, and what came of it. */
export interface TrafficSource {
  readonly kind: 'traffic'
  /** The agent's name, as its clients give it. */
  readonly agent: string
  readonly tenant: Tenant
  /** How far back is looked, in milliseconds. */
  readonly window: number
  /** For how long a trajectory must have been quiet, so that what people say of it has come, in milliseconds. */
  readonly settle: number
  /** Releases that the weights which sampled may be older than those that serve; 0: only what serves now. */
  readonly maxLag: number
  /** Fresh trajectories of one run, at most, and as many that other weights sampled: the newest. */
  readonly limit: number
  /** Held-out tasks that a candidate must do better on before anybody gets it; `null`: the evidence is a canary's alone. */
  readonly evaluation: HeldOut | null
  /** Held-out tasks of what was learned before and must not be forgotten, by the names that the gate has limits for. */
  readonly suites: Readonly<Record<string, HeldOut>>
  /** How much one reporter may decide of a batch. */
  readonly reporters: ReporterLimits
  /**
   * What of people's behaviour tells which answers they took, to be imitated and preferred. Omitted: all of it, whatever
   * the reward makes of it.
   */
  readonly behaviour?: ImplicitOptions
}

/** What `learn` reads. */
export type Source = RolloutSource | TrafficSource

/** Which traffic, in words that a configuration can hold. */
export const TrafficWindow = z.strictObject({
  agent: ClientName,
  tenant: Tenant.default(defaultTenant),
  window: Duration.prefault('24h'),
  settle: Duration.prefault('30m'),
  maxLag: z.int().nonnegative().max(16).default(0),
  limit: z.int().positive().max(100_000).default(2_000),
})

/** What else a source of traffic is given. */
export interface TrafficSourceOptions extends Partial<Pick<TrafficSource, 'evaluation' | 'suites' | 'behaviour'>> {
  readonly reporters?: z.input<typeof ReporterLimits>
}

/**
 * Learning from what an agent does in production.
 * @throws InputError for a length of time or a number that is none.
 */
export function traffic({
  evaluation = null,
  suites = {},
  reporters = {},
  behaviour,
  ...window
}: z.input<typeof TrafficWindow> & TrafficSourceOptions): TrafficSource {
  return {
    kind: 'traffic',
    ...parseInput(TrafficWindow, window, 'the traffic to learn from'),
    evaluation,
    suites,
    reporters: parseInput(ReporterLimits, reporters, 'the limits of reporters'),
    ...(behaviour ? { behaviour } : {}),
  }
}

const inSplit =
  <S extends Split>(split: S) =>
  (task: Task): task is Task<S> =>
    task.split === split

/**
 * Practice in an environment.
 * @throws LearnError when a split is empty or holds no task of a trained tier, or two tasks share an id: a held-out task must not be learned from.
 */
export function rollouts(environment: Environment, tasks: readonly Task[]): RolloutSource {
  const ids = new Set<string>()
  for (const { id } of tasks) {
    if (ids.has(id)) {
      throw new LearnError({
        code: 'learn/duplicate-task',
        message: `Two tasks have the id "${id}".`,
        hint: 'Give every task its own id: the same task in two splits would leak the holdout.',
      })
    }
    ids.add(id)
  }
  const source: RolloutSource = {
    kind: 'rollouts',
    environment,
    train: tasks.filter(inSplit('train')),
    validation: tasks.filter(inSplit('validation')),
    holdout: tasks.filter(inSplit('holdout')),
  }
  for (const split of ['train', 'validation', 'holdout'] as const) {
    if (source[split].length > 0) continue
    throw new LearnError({
      code: 'learn/empty-split',
      message: `There are no ${split} tasks.`,
      hint: 'A run needs tasks to learn from (train), to choose checkpoints (validation) and to be judged on (holdout).',
    })
  }
  const trained = new Set(source.train.map(({ tier = 'all' }) => tier))
  for (const split of ['validation', 'holdout'] as const) {
    if (source[split].some(({ tier = 'all' }) => trained.has(tier))) continue
    throw new LearnError({
      code: 'learn/empty-split',
      message: `No ${split} task is of a tier that is trained (${[...trained].join(', ')}).`,
      hint: `Give ${split} tasks of such a tier: only they choose and judge what is learned.`,
    })
  }
  return source
}
