import type { Agent, Models } from '../../agent/index.ts'
import {
  type BlobRef,
  keepSaved,
  asWeights,
  type ModelService,
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
} from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import type { Registry } from '../../release/index.ts'
import type { LearnEvent } from '../events.ts'
import type { Complete, LearnOptions } from '../options.ts'
import type { LearnSummary } from '../summary.ts'
import type { ActingWeights } from './acting-weights.ts'
import { RunJournal } from './journal.ts'
import { isOfLearners, Learners, type Values } from './learners.ts'
import { type Retired, whatLearns } from './parameter.ts'
import type { Acting, ServingVersions } from './serving.ts'
import type { RunState } from './state.ts'
import { TrainedWeights } from './trained-weights.ts'

/** What a run is opened with. */
export interface RunParts<O extends LearnOptions> {
  readonly agent: Agent
  /** What the agent's releases, runs and alerts go by. */
  readonly key: string
  readonly options: Complete<O>
  /** What answers for each of the agent's weights. */
  readonly models: Models
  readonly registry: Registry
  readonly run: Run
  /** Of the weights that the run trains, by their Parameter. */
  readonly trainers: ReadonlyMap<ParameterName, Trainer>
  readonly serving: ServingVersions
  readonly state: RunState
  readonly blobs: Readonly<Record<string, BlobRef>>
}

/**
 * One run under way: its options with defaults filled in, its record in the store, and where it stands. A source says what
 * is learned from it, and what speaks for the candidate.
 * @typeParam Kept names of adapters that it keeps beside its checkpoints, of each of the weights that it trains.
 */
export abstract class LearnRun<O extends LearnOptions = LearnOptions, Kept extends string = string> extends RunJournal<
  RunState,
  LearnEvent
> {
  readonly agent: Agent
  readonly key: string
  readonly options: Complete<O>
  readonly models: Models
  /** The weights that it trains. */
  readonly weights: readonly TrainedWeights<Kept>[]
  /** What it retires; then nothing learns in it. `null` in any other run. */
  readonly retired: Retired | null
  /** What else learns. */
  learners: Learners = Learners.none
  readonly registry: Registry
  readonly serving: ServingVersions

  /** Under which name the adapters of the candidate are kept. */
  protected abstract readonly candidateName: Kept

  constructor({ agent, key, options, models, registry, run, trainers, serving, state, blobs }: RunParts<O>) {
    super({ run, store: options.store, clock: options.clock ?? systemClock, state, blobs, onEvent: options.onEvent })
    this.agent = agent
    this.key = key
    this.options = options
    this.models = models
    this.registry = registry
    this.serving = serving
    const { trained, retired } = whatLearns(agent, options)
    this.retired = retired
    this.weights = trained.map((one) => {
      const trainer = present(trainers.get(one.parameter), `the trainer of ${one.parameter}`)
      return new TrainedWeights<Kept>(this, one, trained, trainer)
    })
  }

  /** What answers for a Parameter of weights. */
  modelOf(parameter: ParameterName): ModelService {
    return present(this.models.get(parameter), `the model of ${parameter}`)
  }

  /** The weights of a Parameter that it trains. */
  weightsOf(parameter: ParameterName): TrainedWeights<Kept> {
    const found = this.weights.find((one) => one.parameter === parameter)
    return present(found, `the weights of ${parameter}`)
  }

  /** How it ended. */
  abstract summary(): LearnSummary

  /** Once its candidate is judged, a run needs no trainer any more, and nothing to go back to. */
  protected override async trainerStates(): Promise<ReadonlyMap<string, Saved | null>> {
    const { phase } = this.state
    const needed = phase === 'learn' || phase === 'judge'
    if (!needed) this.mark('steady')
    const states = new Map<string, Saved | null>()
    for (const { suffix, trainer } of this.weights) states.set(suffix, needed ? await trainer.saveState() : null)
    return states
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

  /** Lets go of its trainers and its sessions. */
  async close(): Promise<void> {
    try {
      await this.learners.close()
    } finally {
      for (const { trainer } of this.weights) await trainer.close()
    }
  }

  protected override async discard(path: TrainerPath): Promise<void> {
    // Only the server that keeps it knows it: the others do nothing.
    for (const { trainer } of this.weights) await trainer.discard(path)
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

  /** Keeps something under a name, beside the checkpoints from the next one on. */
  async keep(name: string, saved: Saved): Promise<void> {
    this.name(name, await keepSaved(this.options.store.blobs, saved))
  }

  /** Keeps nothing under a name any more. */
  forget(name: string): void {
    this.name(name, null)
  }

  /** The candidate: the new Version of every Parameter that learned something, minted from what serves. */
  get candidates(): readonly Version[] {
    const proposed = Object.entries(this.state.proposed).flatMap(([parameter, value]) => {
      const serving = this.servingOf(parameter)
      const version = mintVersion(parameter, value, { parents: [serving.id], run: this.run.id })
      return version.id === serving.id ? [] : [version]
    })
    const weights = [...this.candidateAdapters].map(([one, adapter]) => one.versionOf(adapter))
    return [...weights, ...proposed]
  }

  /** The adapters of the candidate, of all weights that have come further than they were. */
  get candidateAdapters(): ReadonlyMap<TrainedWeights<Kept>, BlobRef> {
    return new Map(
      this.weights.flatMap((one) => {
        const adapter = one.at(this.candidateName)
        return adapter === null || !this.hasMoved(one) ? [] : [[one, adapter] as const]
      }),
    )
  }

  /** Whether what is kept of these weights for the candidate is other than they were. */
  protected hasMoved(_weights: TrainedWeights<Kept>): boolean {
    return true
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

  /** The adapter that serves of weights; `null` is the base model exactly. */
  servingAdapter(parameter: ParameterName): BlobRef | null {
    return asWeights(this.servingOf(parameter).value)?.adapter ?? null
  }

  /** Weights as they serve. */
  servingWeights(parameter: ParameterName): ActingWeights {
    return this.weightsAt(parameter, this.servingAdapter(parameter), this.servingOf(parameter).id)
  }

  /** Weights of an adapter that is kept, which is this Version's. */
  weightsAt(parameter: ParameterName, adapter: BlobRef | null, version: VersionId): ActingWeights {
    const load = async (ref: BlobRef) =>
      this.modelOf(parameter).loadAdapter(await savedAt(this.options.store.blobs, ref))
    return { load: adapter === null ? null : () => load(adapter), inForce: this.inForce(version, null) }
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
