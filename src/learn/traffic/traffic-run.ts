import type { Agent, VersionInForce } from '../../agent/index.ts'
import {
  agentKey,
  type BlobRef,
  keepSaved,
  type Demonstration,
  mintVersion,
  type Optimizer,
  type Repositories,
  type Run,
  systemClock,
  type Trainer,
  type Version,
  type VersionId,
  type Saved,
  type TrainerPath,
} from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import type { Registry } from '../../release/index.ts'
import { RunJournal } from '../journal.ts'
import { learningParameter, type ServingVersions } from '../learning-run.ts'
import type { TrafficEvent } from './events.ts'
import type { Material } from './learned-from.ts'
import type { TrafficLearnOptions, TrafficSchedule } from './options.ts'
import type { TrafficState } from './state.ts'

/** One run of learning from traffic under way. The functions of this folder move it forward. */
export class TrafficRun extends RunJournal<TrafficState, TrafficEvent> {
  readonly agent: Agent
  readonly options: TrafficLearnOptions
  readonly schedule: TrafficSchedule
  /** What the agent's releases, runs and alerts go by. */
  readonly key: string
  readonly parameter: string
  readonly optimizer: Optimizer<'weights'>
  readonly registry: Registry
  readonly trainer: Trainer
  /** What serves when the run begins. */
  readonly serving: ServingVersions
  /** What is learned from, once it was read. */
  material: Material | null = null
  /** What may be learned again, once it was read. */
  rehearsal: readonly Demonstration[] | null = null

  constructor(parts: {
    agent: Agent
    options: TrafficLearnOptions
    schedule: TrafficSchedule
    registry: Registry
    run: Run
    trainer: Trainer
    serving: ServingVersions
    state: TrafficState
    blobs: Readonly<Record<string, BlobRef>>
  }) {
    const { agent, options, run, state, blobs } = parts
    super({ run, store: options.store, clock: options.clock ?? systemClock, state, blobs, onEvent: options.onEvent })
    this.agent = agent
    this.options = options
    this.schedule = parts.schedule
    this.key = agentKey(options.source.tenant, agent.name)
    const learns = learningParameter(agent, options)
    this.parameter = learns.parameter
    this.optimizer = learns.optimizer
    this.registry = parts.registry
    this.trainer = parts.trainer
    this.serving = parts.serving
  }

  /** Once its candidate is kept, a run needs no trainer any more. */
  protected override trainerState(): Promise<Saved | null> {
    const trained = this.state.phase === 'serve' || this.state.phase === 'done'
    return trained ? Promise.resolve(null) : this.trainer.saveState()
  }

  protected override discard(path: TrainerPath): Promise<void> {
    return this.trainer.discard(path)
  }

  protected override async mayWrite(tx: Repositories): Promise<void> {
    await this.options.mayWrite?.(tx)
  }

  /** After a checkpoint: ends here when the run was asked to. */
  pause(): void {
    this.options.signal?.throwIfAborted()
  }

  /**
   * Goes on to a phase, durably.
   * @param work commits together with it.
   */
  async enter(
    phase: TrafficState['phase'],
    change: Partial<TrafficState> = {},
    work: (tx: Repositories) => Promise<void> = async () => {},
  ): Promise<void> {
    this.state = { ...this.state, ...change, phase }
    await this.checkpoint(work)
  }

  /** Keeps something under a name beside the next checkpoint. */
  async keep(name: 'batch' | 'candidate', saved: Saved): Promise<void> {
    this.name(name, await keepSaved(this.options.store.blobs, saved))
  }

  /** The candidate, minted from what serves; only once it was kept. */
  get candidate(): Version {
    const { base, baseHash } = this.options.model
    const adapter = present(this.blobs['candidate'], "the candidate's adapter")
    const origin = { parents: [this.servingVersion.id], run: this.run.id }
    return mintVersion(this.parameter, { kind: 'weights', base, baseHash, adapter }, origin)
  }

  /** The serving Version of the Parameter that learns. */
  get servingVersion(): Version {
    return present(this.serving.versions.get(this.parameter), `the serving version of ${this.parameter}`)
  }

  inForce(version: VersionId, checkpoint: number | null): VersionInForce {
    return { version, generation: this.serving.generation, checkpoint }
  }
}
