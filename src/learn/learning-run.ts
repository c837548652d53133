import { type Agent, type EpisodeBudget, parametersOfKind, type VersionInForce } from '../agent/index.ts'
import {
  type BlobRef,
  keepSaved,
  type ModelService,
  mintVersion,
  type Optimizer,
  type Run,
  RunId,
  type Saved,
  savedAt,
  type ScoredTrajectory,
  systemClock,
  type Trainer,
  type TrainerPath,
  type Version,
  type VersionId,
} from '../core/index.ts'
import { present } from '../errors/index.ts'
import type { Registry } from '../release/index.ts'
import { LearnError } from './errors.ts'
import type { LearnEvent } from './events.ts'
import { RunJournal } from './journal.ts'
import type { CompleteLearnOptions } from './recipe.ts'
import { RehearsalPool } from './rehearsal-pool.ts'
import type { Schedule } from './schedule.ts'
import type { Demonstrations } from './demonstrations.ts'
import type { LearnState, Stopped } from './state.ts'
import { diagnose, familiesOf, type FamilyOf } from './steer/index.ts'

/** Adapters that a run keeps by name: where priming ended, the moving average, the best validation, and the control's best. */
export type KeptAdapter = 'primed' | 'average' | 'best' | 'control'

/** What serves when a run begins: for each Parameter its Version, and the Generation of its decisions. */
export interface ServingVersions {
  readonly versions: ReadonlyMap<string, Version>
  readonly generation: number
}

/**
 * One run under way: its options with defaults filled in, its record in the store, and where it stands. The functions
 * of this room move it forward.
 */
export class LearningRun extends RunJournal<LearnState, LearnEvent> {
  readonly agent: Agent
  readonly options: CompleteLearnOptions
  readonly schedule: Schedule
  readonly budget: EpisodeBudget
  /** The `weights` Parameter that learns, and its optimizer. */
  readonly parameter: string
  readonly optimizer: Optimizer<'weights'>
  readonly registry: Registry
  readonly trainer: Trainer
  /** What serves when the run begins: for each Parameter, its Version. */
  readonly serving: ServingVersions
  readonly demonstrations: Demonstrations
  /** The families of the tasks, and how many training tasks each has. */
  readonly familyOf: FamilyOf
  readonly familySizes: ReadonlyMap<string, number>
  /** What an update can rehearse. */
  readonly rehearsal: RehearsalPool

  constructor(parts: {
    agent: Agent
    options: CompleteLearnOptions
    schedule: Schedule
    budget: EpisodeBudget
    registry: Registry
    run: Run
    trainer: Trainer
    serving: ServingVersions
    demonstrations: Demonstrations
    state: LearnState
    blobs: Readonly<Record<string, BlobRef>>
  }) {
    const { options, run, state, blobs } = parts
    super({ run, store: options.store, clock: options.clock ?? systemClock, state, blobs, onEvent: options.onEvent })
    this.agent = parts.agent
    this.options = options
    this.schedule = parts.schedule
    this.budget = parts.budget
    const learns = learningParameter(parts.agent, options)
    this.parameter = learns.parameter
    this.optimizer = learns.optimizer
    this.registry = parts.registry
    this.trainer = parts.trainer
    this.serving = parts.serving
    this.demonstrations = parts.demonstrations
    const { train } = options.source
    this.familyOf = familiesOf(train)
    const sizes = new Map<string, number>()
    for (const task of train) sizes.set(this.familyOf(task), (sizes.get(this.familyOf(task)) ?? 0) + 1)
    this.familySizes = sizes
    this.rehearsal = new RehearsalPool(options, parts.demonstrations, this.familyOf)
  }

  /** A run that is done needs no trainer any more, and nothing to go back to. */
  protected override trainerState(): Promise<Saved | null> {
    if (this.state.phase !== 'done') return this.trainer.saveState()
    this.mark('steady')
    return Promise.resolve(null)
  }

  protected override discard(path: TrainerPath): Promise<void> {
    return this.trainer.discard(path)
  }

  /** Remembers the trainer as the next checkpoint has it: what a collapse goes back to. */
  keepSteady(): void {
    this.state = { ...this.state, steady: { update: this.state.update, standing: this.state.standing } }
    this.mark('steady')
  }

  /** Remembers the trainer as the last checkpoint has it: the weights that the batch at hand was sampled with. */
  keepSampled(): void {
    this.state = { ...this.state, steady: { update: this.state.update, standing: this.state.standing } }
    this.name('steady', present(this.blobs['trainer'], "the last checkpoint's trainer state"))
  }

  /** Ends updating before the schedule does, and says why. @param scored what was seen last. */
  stop(reason: Stopped['reason'], message: string, scored: readonly ScoredTrajectory[]): void {
    const diagnosis = diagnose(scored, this.options.reward.ceiling)
    this.state = {
      ...this.state,
      stopped: { reason, message: `${message} ${diagnosis.message}`, hint: diagnosis.hint },
    }
    this.emit({ type: 'stopped', update: this.state.update, reason, message, diagnosis })
  }

  /** Keeps weights under a name: the trainer's as they are now, where none are given. */
  async keep(name: KeptAdapter, weights?: Saved): Promise<void> {
    this.name(name, await keepSaved(this.options.store.blobs, weights ?? (await this.trainer.saveWeights())))
  }

  /** The weights kept under a name; `null` without any. */
  async kept(name: KeptAdapter): Promise<Saved | null> {
    const ref = this.blobs[name]
    return ref === undefined ? null : savedAt(this.options.store.blobs, ref)
  }

  /** Keeps nothing under a name any more. */
  forget(name: KeptAdapter): void {
    this.name(name, null)
  }

  /** The Version that a kept adapter is, minted from what serves. */
  version(name: KeptAdapter): Version {
    return this.versionOf(present(this.blobs[name], `the ${name} adapter`))
  }

  /** The Version of the learning Parameter whose value is this adapter; `null` is the base model exactly. */
  versionOf(adapter: BlobRef | null): Version {
    const { base, baseHash } = this.options.model
    const parents = [this.servingVersion.id]
    return mintVersion(this.parameter, { kind: 'weights', base, baseHash, adapter }, { parents, run: this.run.id })
  }

  /** The serving Version of the Parameter that learns. */
  get servingVersion(): Version {
    return present(this.serving.versions.get(this.parameter), `the serving version of ${this.parameter}`)
  }

  inForce(version: VersionId, checkpoint: number | null): VersionInForce {
    return { version, generation: this.serving.generation, checkpoint }
  }
}

/** Finds the one Parameter that this run moves. */
export function learningParameter(
  agent: Agent,
  { optimize }: Pick<CompleteLearnOptions, 'optimize'>,
): { readonly parameter: string; readonly optimizer: Optimizer<'weights'> } {
  const entries = Object.entries(optimize)
  const [first] = entries
  const known = parametersOfKind(agent, 'weights')
  if (!first || entries.length > 1 || !known.includes(first[0])) {
    throw new LearnError({
      code: 'learn/no-such-parameter',
      message: `optimize names ${entries.map(([name]) => `"${name}"`).join(', ') || 'nothing'}; the agent's weights are ${known.map((name) => `"${name}"`).join(', ') || 'none'}.`,
      hint: 'Name exactly one weights Parameter of the agent in optimize.',
    })
  }
  return { parameter: first[0], optimizer: first[1] }
}

/** A new run's id: sortable by time, unique enough for one store. */
export function newRunId(now: number, random: () => number = Math.random): RunId {
  const stamp = new Date(now).toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)
  return RunId.parse(
    `run-${stamp}-${Math.floor(random() * 36 ** 4)
      .toString(36)
      .padStart(4, '0')}`,
  )
}

/** The Versions of an agent before anything is learned, its weights on this model. */
export function initialVersions(
  agent: Agent,
  { baseHash }: Pick<ModelService, 'baseHash'>,
): ReadonlyMap<string, Version> {
  const origin = { parents: [], run: null }
  return new Map(
    Object.entries(agent.parameters).map(([name, definition]) => {
      switch (definition.kind) {
        case 'weights':
          return [name, mintVersion(name, { kind: 'weights', base: definition.base, baseHash, adapter: null }, origin)]
        case 'text':
          return [name, mintVersion(name, { kind: 'text', text: definition.initial }, origin)]
      }
    }),
  )
}
