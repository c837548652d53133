import { type Agent, storedValue, weightsKind, weightsOf } from '../../agent/index.ts'
import {
  type BlobRef,
  keepSaved,
  asWeights,
  mintVersion,
  type ParameterName,
  type Repositories,
  type Run,
  type Saved,
  savedAt,
  systemClock,
  type Trainer,
  type TrainerPath,
  type Version,
  type VersionId,
  type VersionInForce,
  type VersionSet,
  type WeightsValue,
} from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import type { WeightsPlan } from '../../optimize/weights/index.ts'
import type { Registry } from '../../release/index.ts'
import type { LearnEvent } from '../events.ts'
import type { Complete, LearnOptions } from '../options.ts'
import type { LearnSummary } from '../summary.ts'
import { RunJournal } from './journal.ts'
import { isOfLearners, Learners, type Values } from './learners.ts'
import { type Trained, whatLearns } from './parameter.ts'
import type { Acting, ServingVersions } from './serving.ts'
import type { RunState } from './state.ts'

/** What a run is opened with. */
export interface RunParts<O extends LearnOptions> {
  readonly agent: Agent
  /** What the agent's releases, runs and alerts go by. */
  readonly key: string
  readonly options: Complete<O>
  readonly registry: Registry
  readonly run: Run
  /** `null` for a run that trains no weights. */
  readonly trainer: Trainer | null
  readonly serving: ServingVersions
  readonly state: RunState
  readonly blobs: Readonly<Record<string, BlobRef>>
}

/**
 * One run under way: its options with defaults filled in, its record in the store, and where it stands. A source says what
 * is learned from it, and what speaks for the candidate.
 * @typeParam Kept names of what it keeps beside its checkpoints: adapters, and what it learns from.
 */
export abstract class LearnRun<O extends LearnOptions = LearnOptions, Kept extends string = string> extends RunJournal<
  RunState,
  LearnEvent
> {
  readonly agent: Agent
  readonly key: string
  readonly options: Complete<O>
  /** The `weights` Parameter that the run trains, and how it learns; `null`: none. */
  readonly trained: Trained | null
  /** What else learns. */
  learners: Learners = Learners.none
  readonly registry: Registry
  readonly #trainer: Trainer | null
  readonly serving: ServingVersions

  /** Under which name the candidate's adapter is kept. */
  protected abstract readonly candidateName: Kept

  constructor({ agent, key, options, registry, run, trainer, serving, state, blobs }: RunParts<O>) {
    super({ run, store: options.store, clock: options.clock ?? systemClock, state, blobs, onEvent: options.onEvent })
    this.agent = agent
    this.key = key
    this.options = options
    this.trained = whatLearns(agent, options).trained
    this.registry = registry
    this.#trainer = trainer
    this.serving = serving
  }

  /** The `weights` Parameter that the run trains; only where it trains one. */
  get parameter(): ParameterName {
    return present(this.trained, 'the weights that the run trains').parameter
  }

  /** How the weights learn that the run trains; only where it trains some. */
  get plan(): WeightsPlan {
    return present(this.trained, 'the weights that the run trains').plan
  }

  /** Holds the weights that are trained; only where the run trains some. */
  get trainer(): Trainer {
    return present(this.#trainer, 'the trainer')
  }

  /** The Parameter that the model answers for, trained or not; `null` for an agent without weights. */
  get answering(): ParameterName | null {
    return weightsOf(this.agent)[0] ?? null
  }

  /** How it ended. */
  abstract summary(): LearnSummary

  /** Once its candidate is judged, a run needs no trainer any more, and nothing to go back to. */
  protected override trainerState(): Promise<Saved | null> {
    const { phase } = this.state
    if (this.#trainer && (phase === 'learn' || phase === 'judge')) return this.#trainer.saveState()
    this.mark('steady')
    return Promise.resolve(null)
  }

  /** Sessions are saved while they learn; once the candidate is judged, they are over. */
  protected override async gather(): Promise<void> {
    if (this.learners.size === 0) return
    const { states, blobs } = await this.learners.kept(this.agent, this.state)
    for (const name of Object.keys(this.blobs)) {
      if (isOfLearners(name) && !Object.hasOwn(blobs, name)) this.name(name, null)
    }
    for (const [name, ref] of Object.entries(blobs)) this.name(name, ref)
    this.state = { ...this.state, learners: states }
  }

  /** Lets go of its trainer and its sessions. */
  async close(): Promise<void> {
    try {
      await this.learners.close()
    } finally {
      await this.#trainer?.close()
    }
  }

  protected override discard(path: TrainerPath): Promise<void> {
    return this.#trainer?.discard(path) ?? Promise.resolve()
  }

  protected override async mayWrite(tx: Repositories): Promise<void> {
    await this.options.mayWrite?.(tx)
  }

  /** Ends here when the run was asked to. */
  pause(): void {
    this.options.signal?.throwIfAborted()
  }

  /**
   * Goes on to a phase, durably.
   * @param work commits together with it.
   */
  async enter(
    phase: RunState['phase'],
    change: Partial<RunState> = {},
    work: (tx: Repositories) => Promise<void> = async () => {},
  ): Promise<void> {
    this.state = { ...this.state, ...change, phase }
    await this.checkpoint(work)
  }

  /** Keeps something under a name: the trainer's weights as they are now, where nothing is given. */
  async keep(name: Kept, saved?: Saved): Promise<void> {
    this.name(name, await keepSaved(this.options.store.blobs, saved ?? (await this.trainer.saveWeights())))
  }

  /** What is kept under a name; `null` without any. */
  async kept(name: Kept): Promise<Saved | null> {
    const ref = this.blobs[name]
    return ref === undefined ? null : savedAt(this.options.store.blobs, ref)
  }

  /** Keeps nothing under a name any more. */
  forget(name: Kept): void {
    this.name(name, null)
  }

  /** The candidate: the new Version of every Parameter that learned something, minted from what serves. */
  get candidates(): readonly Version[] {
    const adapter = this.trained ? this.blobs[this.candidateName] : undefined
    const proposed = Object.entries(this.state.proposed).flatMap(([parameter, value]) => {
      const serving = this.servingOf(parameter)
      const version = mintVersion(parameter, value, { parents: [serving.id], run: this.run.id })
      return version.id === serving.id ? [] : [version]
    })
    return [...(adapter === undefined ? [] : [this.versionOf(adapter)]), ...proposed]
  }

  /** What would serve with the candidate. */
  get candidateSet(): VersionSet {
    return { ...this.servingSet, ...Object.fromEntries(this.candidates.map(({ parameter, id }) => [parameter, id])) }
  }

  /** What acts where the candidate is measured; weights act as an adapter. */
  get candidateActing(): Acting {
    return new Map(
      this.candidates.map(({ parameter, value, id }) => [parameter, { value, inForce: this.inForce(id, null) }]),
    )
  }

  /** These values, acting in a run under way: they are checkpoints of what serves. */
  acting(values: Values, checkpoint: number): Acting {
    return new Map(
      [...values].map(([parameter, value]) => [
        parameter,
        { value, inForce: this.inForce(this.servingOf(parameter).id, checkpoint) },
      ]),
    )
  }

  /** The Version of the trained Parameter whose value is this adapter; `null` is the base model exactly. */
  versionOf(adapter: BlobRef | null): Version {
    const { base, baseHash } = this.options.model
    const value = storedValue(this.parameter, weightsKind, { base, baseHash, adapter })
    return mintVersion(this.parameter, value, { parents: [this.servingVersion.id], run: this.run.id })
  }

  /** The serving Version of the Parameter that is trained. */
  get servingVersion(): Version {
    return this.servingOf(this.parameter)
  }

  /** The weights that serve, where the run trains some. */
  get currentWeights(): { readonly version: VersionId; readonly value: WeightsValue } {
    const { id, value } = this.servingVersion
    return { version: id, value: present(asWeights(value), 'a value of weights') }
  }

  /** The adapter that serves; `null` is the base model exactly, or no model at all. */
  get servingAdapter(): BlobRef | null {
    return this.answering === null ? null : (asWeights(this.servingOf(this.answering).value)?.adapter ?? null)
  }

  /** The weights that serve, in force; `null` for an agent without any. */
  get servingInForce(): VersionInForce | null {
    return this.answering === null ? null : this.inForce(this.servingOf(this.answering).id, null)
  }

  servingOf(parameter: ParameterName): Version {
    return present(this.serving.versions.get(parameter), `the serving version of ${parameter}`)
  }

  /** What serves, by Parameter. */
  get servingSet(): VersionSet {
    return Object.fromEntries([...this.serving.versions].map(([name, { id }]) => [name, id]))
  }

  inForce(version: VersionId, checkpoint: number | null): VersionInForce {
    return { version, generation: this.serving.generation, checkpoint }
  }
}
