import type { Agent, VersionInForce } from '../../agent/index.ts'
import {
  type BlobRef,
  keepSaved,
  mintVersion,
  type Optimizer,
  type Repositories,
  type Run,
  type Saved,
  savedAt,
  systemClock,
  type Trainer,
  type TrainerPath,
  type Version,
  type VersionId,
  type VersionSet,
} from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import type { Registry } from '../../release/index.ts'
import type { LearnEvent } from '../events.ts'
import type { Complete, LearnOptions } from '../options.ts'
import type { LearnSummary } from '../summary.ts'
import { RunJournal } from './journal.ts'
import { learningParameter } from './parameter.ts'
import type { RunState } from './state.ts'

/** What serves when a run begins: for each Parameter its Version, and the Generation of its decisions. */
export interface ServingVersions {
  readonly versions: ReadonlyMap<string, Version>
  readonly generation: number
}

/** What a run is opened with. */
export interface RunParts<O extends LearnOptions> {
  readonly agent: Agent
  /** What the agent's releases, runs and alerts go by. */
  readonly key: string
  readonly options: Complete<O>
  readonly registry: Registry
  readonly run: Run
  readonly trainer: Trainer
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
  /** The `weights` Parameter that learns, and its optimizer. */
  readonly parameter: string
  readonly optimizer: Optimizer<'weights'>
  readonly registry: Registry
  readonly trainer: Trainer
  readonly serving: ServingVersions

  /** Under which name the candidate's adapter is kept. */
  protected abstract readonly candidateName: Kept

  constructor({ agent, key, options, registry, run, trainer, serving, state, blobs }: RunParts<O>) {
    super({ run, store: options.store, clock: options.clock ?? systemClock, state, blobs, onEvent: options.onEvent })
    this.agent = agent
    this.key = key
    this.options = options
    const learns = learningParameter(agent, options)
    this.parameter = learns.parameter
    this.optimizer = learns.optimizer
    this.registry = registry
    this.trainer = trainer
    this.serving = serving
  }

  /** How it ended. */
  abstract summary(): LearnSummary

  /** Once its candidate is judged, a run needs no trainer any more, and nothing to go back to. */
  protected override trainerState(): Promise<Saved | null> {
    const { phase } = this.state
    if (phase === 'learn' || phase === 'judge') return this.trainer.saveState()
    this.mark('steady')
    return Promise.resolve(null)
  }

  protected override discard(path: TrainerPath): Promise<void> {
    return this.trainer.discard(path)
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

  /** Whether there is a candidate. */
  get hasCandidate(): boolean {
    return this.blobs[this.candidateName] !== undefined
  }

  /** The candidate, minted from what serves; only once it was kept. */
  get candidate(): Version {
    return this.versionOf(present(this.blobs[this.candidateName], "the candidate's adapter"))
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

  /** What serves, by Parameter. */
  get servingSet(): VersionSet {
    return Object.fromEntries([...this.serving.versions].map(([name, { id }]) => [name, id]))
  }

  inForce(version: VersionId, checkpoint: number | null): VersionInForce {
    return { version, generation: this.serving.generation, checkpoint }
  }
}
