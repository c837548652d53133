import { AsyncLocalStorage } from 'node:async_hooks'
import { type Agent, type CreditedBatch, backward, depositRule, storedValue, valueIn } from '../../agent/index.ts'
import {
  type BlobRef,
  type Evaluate,
  Json,
  type LeakCheck,
  type LearnableTask,
  type Learning,
  type Metrics,
  type ParameterName,
  type ParameterValue,
  rng,
  type SavedLearning,
  type ScoredTrajectory,
  type Version,
  type VersionId,
} from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { LearnError } from '../errors.ts'
import type { Learner } from './parameter.ts'
import type { RunState } from './state.ts'

/** Values by the Parameter that they are of, as versions hold them. */
export type Values = ReadonlyMap<ParameterName, ParameterValue>

/** Attempts tasks with a value of a Parameter in the place of what acts. */
export type Attempt = (
  parameter: ParameterName,
  value: ParameterValue,
  tasks: readonly LearnableTask[],
) => Promise<readonly ScoredTrajectory[]>

/** What the sessions of a run are opened with. */
export interface LearnersParts {
  readonly learners: readonly Learner[]
  /** What served when the run began. */
  readonly serving: ReadonlyMap<ParameterName, Version>
  readonly seed: number
  /** What the last checkpoint holds of each, and the blobs that it names. */
  readonly saved: Readonly<Record<ParameterName, Json>>
  readonly blobs: Readonly<Record<string, BlobRef>>
  /** `null` where there are no tasks to attempt. */
  readonly attempt: Attempt | null
  /** Tasks that sessions may attempt, and what of all tasks they must not quote. Default: none. */
  readonly tasks?: readonly LearnableTask[]
  readonly leaks?: LeakCheck
}

interface Session extends Learner {
  /** What served when the run began. */
  readonly version: VersionId
  readonly learning: Learning
}

/** What all sessions know, for a checkpoint. */
export interface SavedLearners {
  readonly states: Readonly<Record<ParameterName, Json>>
  readonly blobs: Readonly<Record<string, BlobRef>>
}

/** The name of a session's blob among those of its run. */
const blobName = (parameter: string, name: string) => `learner/${parameter}/${name}`

/** Whether a run's blob is a session's, or is needed by what one proposes. */
export const isOfLearners = (name: string): boolean => name.startsWith('learner/') || name.startsWith('proposed/')

/** The blobs that proposed values need, by the names that a run keeps them under until they are Versions. */
function neededBy(agent: Agent, proposed: RunState['proposed']): Readonly<Record<string, BlobRef>> {
  const named: Record<string, BlobRef> = {}
  for (const [parameter, value] of Object.entries(proposed)) {
    const { of } = present(agent.parameters[parameter], `the Parameter ${parameter}`)
    const refs = of.blobs?.(valueIn(parameter, of, value)) ?? []
    for (const [i, ref] of refs.entries()) named[`proposed/${parameter}/${i}`] = ref
  }
  return named
}

/**
 * The Parameters that learn in sessions of their optimizers, beside the weights that the run trains. All step on the same
 * batches, each on what its own Decisions deposited.
 */
export class Learners {
  readonly #sessions: readonly Session[]

  private constructor(sessions: readonly Session[]) {
    this.#sessions = sessions
  }

  /** Opens a session for each, or none is left open. */
  static async open(parts: LearnersParts): Promise<Learners> {
    const sessions: Session[] = []
    try {
      for (const learner of parts.learners) {
        const serving = present(parts.serving.get(learner.parameter), `the serving version of ${learner.parameter}`)
        const learning = await openOne(learner, serving, parts)
        sessions.push({ ...learner, version: serving.id, learning })
      }
    } catch (error) {
      await new Learners(sessions).close()
      throw error
    }
    return new Learners(sessions)
  }

  /** A run that has none. */
  static readonly none = new Learners([])

  get size(): number {
    return this.#sessions.length
  }

  /** What learns in them. */
  get parameters(): readonly ParameterName[] {
    return this.#sessions.map(({ parameter }) => parameter)
  }

  /**
   * What they act with.
   * @param given values that act in the place of theirs: who has one is not asked.
   * @throws KindError for a value that its Kind refuses; LearnError where one evaluates to say it, and that asks it again.
   */
  async bound(given: Values = new Map()): Promise<Values> {
    const values = new Map<ParameterName, ParameterValue>()
    for (const session of this.#sessions) {
      const { parameter } = session
      values.set(parameter, given.get(parameter) ?? (await boundOf(session)))
    }
    return values
  }

  /** What they propose. @throws KindError for a value that its Kind refuses. */
  async proposed(): Promise<Values> {
    const values = new Map<ParameterName, ParameterValue>()
    for (const { parameter, definition, learning } of this.#sessions) {
      const value = await learning.propose()
      if (value !== null) values.set(parameter, storedValue(parameter, definition.of, value))
    }
    return values
  }

  /**
   * One step of each, on what its Decisions in a batch deposited; what they tell is named by the Parameter. Decisions of
   * another Version than served when the run began are counted (`stale`), and not learned from: its values had other chances.
   * @param update steps of the run before this one.
   */
  async step(batch: CreditedBatch, update: number): Promise<Metrics> {
    const told: Record<string, number> = {}
    for (const { parameter, definition, version, learning } of this.#sessions) {
      const gradients = backward(batch, { parameter, rule: depositRule(definition.of) })
      const deposits = gradients.flatMap((gradient) => (gradient.version === version ? gradient.deposits : []))
      const stale = gradients.reduce((sum, gradient) => sum + gradient.deposits.length, -deposits.length)
      const counts = { deposits: deposits.length, ...(stale > 0 && { stale }) }
      const metrics = { ...counts, ...(await learning.step(deposits, update)) }
      for (const [name, value] of Object.entries(metrics)) told[`${parameter}.${name}`] = value
    }
    return told
  }

  private async save(): Promise<SavedLearners> {
    const states: Record<ParameterName, Json> = {}
    const blobs: Record<string, BlobRef> = {}
    for (const { parameter, optimizer, learning } of this.#sessions) {
      const saved = await learning.save()
      if (!Json.safeParse(saved.state).success) throw notJson(parameter, optimizer.name)
      states[parameter] = saved.state
      for (const [name, ref] of Object.entries(saved.blobs ?? {})) blobs[blobName(parameter, name)] = ref
    }
    return { states, blobs }
  }

  /** What a checkpoint keeps of them: while they learn their states, and until they are Versions what proposals need. */
  async kept(agent: Agent, { phase, proposed }: Pick<RunState, 'phase' | 'proposed'>): Promise<SavedLearners> {
    const { states, blobs } = phase === 'learn' ? await this.save() : { states: {}, blobs: {} }
    return { states, blobs: { ...blobs, ...(phase === 'done' ? {} : neededBy(agent, proposed)) } }
  }

  /** Closes every session. How a run ended does not depend on it: one that cannot be closed is left. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#sessions.map(async ({ learning }) => learning.close?.()))
  }
}

const notJson = (parameter: ParameterName, optimizer: string) =>
  new LearnError({
    code: 'learn/bad-state',
    message: `The optimizer "${optimizer}" of "${parameter}" saved a state that JSON cannot hold.`,
    hint: 'Save plain objects, lists, strings and finite numbers as the state; put large parts into `store.blobs`.',
  })

/** Parameters whose `bound()` is under way, where this code was called from. */
const binding = new AsyncLocalStorage<ReadonlySet<ParameterName>>()

async function boundOf({ parameter, definition, learning }: Session): Promise<ParameterValue> {
  const under = binding.getStore() ?? new Set()
  if (under.has(parameter)) throw circularBound(parameter)
  const value = await binding.run(new Set([...under, parameter]), () => learning.bound())
  return storedValue(parameter, definition.of, value)
}

const circularBound = (parameter: ParameterName) =>
  new LearnError({
    code: 'learn/circular-bound',
    message: `bound() of the optimizer of "${parameter}" was asked for while it was under way: it evaluates, and another's bound() that does so too asks for it.`,
    hint: 'Let bound() of at most one optimizer call `evaluate`; call it in step() instead.',
  })

async function openOne(learner: Learner, { id, value }: Version, parts: LearnersParts): Promise<Learning> {
  const { parameter, definition, optimizer } = learner
  const { tasks = [], leaks } = parts
  const seat = {
    parameter,
    version: id,
    value: valueIn(parameter, definition.of, value),
    rng: (...key: readonly (string | number)[]) => rng('learner', parts.seed, parameter, ...key),
    evaluate: evaluating(learner, parts.attempt),
    tasks,
    ...(leaks && { leaks }),
  }
  return optimizer.open(seat, savedOf(parameter, parts))
}

function savedOf(parameter: ParameterName, { saved, blobs }: LearnersParts): SavedLearning | null {
  const state = saved[parameter]
  if (state === undefined) return null
  const prefix = blobName(parameter, '')
  const own = Object.entries(blobs).filter(([name]) => name.startsWith(prefix))
  return { state, blobs: Object.fromEntries(own.map(([name, ref]) => [name.slice(prefix.length), ref])) }
}

function evaluating({ parameter, definition }: Learner, attempt: Attempt | null): Evaluate<unknown> | null {
  return attempt && ((value, tasks) => attempt(parameter, storedValue(parameter, definition.of, value), tasks))
}
