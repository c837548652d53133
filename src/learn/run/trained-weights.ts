import { storedValue, weightsKind } from '../../agent/index.ts'
import {
  asWeights,
  type BlobRef,
  type Metrics,
  mintVersion,
  type ModelService,
  type ParameterName,
  type Run,
  type Saved,
  savedAt,
  type Store,
  type Trainer,
  type Version,
  type VersionId,
  type VersionInForce,
  type WeightsValue,
} from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import type { WeightsPlan } from '../../optimize/weights/index.ts'
import type { ActingWeights } from './acting-weights.ts'
import { suffixOf, type Trained } from './parameter.ts'
import type { RunState, WeightsState } from './state.ts'

/** The run that trains weights. */
interface Trains {
  readonly run: Pick<Run, 'id'>
  readonly options: { readonly store: Pick<Store, 'blobs'> }
  readonly blobs: Readonly<Record<string, BlobRef>>
  state: RunState
  modelOf(parameter: ParameterName): ModelService
  servingOf(parameter: ParameterName): Version
  weightsAt(parameter: ParameterName, adapter: BlobRef | null, version: VersionId): ActingWeights
  inForce(version: VersionId, checkpoint: number | null): VersionInForce
  keep(name: string, saved: Saved): Promise<void>
  forget(name: string): void
}

/**
 * One Parameter's weights that a run trains: how they learn, what holds them, how far they have come, and what is kept of them.
 * @typeParam Kept names of adapters that are kept beside the run's checkpoints.
 */
export class TrainedWeights<Kept extends string = string> {
  readonly parameter: ParameterName
  /** How they learn. */
  readonly plan: WeightsPlan
  readonly model: ModelService
  /** Holds them as they are now. */
  readonly trainer: Trainer
  /** Tells what is kept and told of them from that of others; nothing where they alone are trained. */
  readonly suffix: string
  readonly #run: Trains

  constructor(run: Trains, { parameter, plan }: Trained, all: readonly Trained[], trainer: Trainer) {
    this.parameter = parameter
    this.plan = plan
    this.model = run.modelOf(parameter)
    this.trainer = trainer
    this.suffix = suffixOf(parameter, all)
    this.#run = run
  }

  /** How far they have come. */
  get state(): WeightsState {
    return present(this.#run.state.weights[this.parameter], `the state of ${this.parameter}`)
  }

  /** They have come further. */
  advance(change: Partial<WeightsState>): void {
    const { state } = this.#run
    this.#run.state = { ...state, weights: { ...state.weights, [this.parameter]: { ...this.state, ...change } } }
  }

  /** Says in an event whose it is, where others are trained as well. */
  get named(): { readonly parameter?: ParameterName } {
    return this.suffix === '' ? {} : { parameter: this.parameter }
  }

  /** Sets their randomness apart from that of others; nothing where they alone are trained. */
  get key(): readonly ParameterName[] {
    return this.suffix === '' ? [] : [this.parameter]
  }

  /** Numbers about them, named by the Parameter where others are trained as well. */
  told(metrics: Metrics): Metrics {
    if (this.suffix === '') return metrics
    return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [`${this.parameter}.${name}`, value]))
  }

  /** Keeps an adapter under a name: the weights as they are now, where none is given. */
  async keep(name: Kept, saved?: Saved): Promise<void> {
    await this.#run.keep(`${name}${this.suffix}`, saved ?? (await this.trainer.saveWeights()))
  }

  /** Where the adapter is that is kept under a name; `null` without any. */
  at(name: Kept): BlobRef | null {
    return this.#run.blobs[`${name}${this.suffix}`] ?? null
  }

  /** The adapter that is kept under a name; `null` without any. */
  async kept(name: Kept): Promise<Saved | null> {
    const ref = this.at(name)
    return ref === null ? null : savedAt(this.#run.options.store.blobs, ref)
  }

  /** They are again what the last checkpoint has. */
  async goBack(): Promise<void> {
    const ref = present(this.#run.blobs[`trainer${this.suffix}`], "the last checkpoint's trainer state")
    await this.trainer.loadState(await savedAt(this.#run.options.store.blobs, ref))
  }

  /** Keeps no adapter under a name any more. */
  forget(name: Kept): void {
    this.#run.forget(`${name}${this.suffix}`)
  }

  /** What serves of them. */
  get serving(): Version {
    return this.#run.servingOf(this.parameter)
  }

  /** What serves of them, as an optimizer is told. */
  get current(): { readonly version: VersionId; readonly value: WeightsValue } {
    const { id, value } = this.serving
    return { version: id, value: present(asWeights(value), 'a value of weights') }
  }

  /** The Version whose value is this adapter; `null` is the base model exactly. */
  versionOf(adapter: BlobRef | null): Version {
    const { base, baseHash } = this.model
    const value = storedValue(this.parameter, weightsKind, { base, baseHash, adapter })
    return mintVersion(this.parameter, value, { parents: [this.serving.id], run: this.#run.run.id })
  }

  /** Weights of theirs that act in a run under way, however they are loaded: a checkpoint of what serves. */
  acting(load: ActingWeights['load'], checkpoint: number): ActingWeights {
    return { load, inForce: this.#run.inForce(this.serving.id, checkpoint) }
  }

  /** They act as they are now. */
  actingNow(checkpoint: number): ActingWeights {
    return this.acting(() => this.trainer.publish(), checkpoint)
  }

  /** They act as an adapter that was saved. */
  actingAs(saved: Saved, checkpoint: number): ActingWeights {
    return this.acting(() => this.model.loadAdapter(saved), checkpoint)
  }

  /** They act as an adapter that is kept, a Version of its own. */
  actingAt(adapter: BlobRef | null): ActingWeights {
    return this.#run.weightsAt(this.parameter, adapter, this.versionOf(adapter).id)
  }
}
