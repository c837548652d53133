import {
  blobKey,
  type BlobRef,
  type Clock,
  type Json,
  keepSaved,
  type Metrics,
  type Repositories,
  type Run,
  type RunEvent,
  type Saved,
  type Store,
  type TrainerPath,
} from '../../core/index.ts'
import { finite } from './finite.ts'

/** What every run's state counts, whatever it learns from. */
export interface JournalState {
  /** Events written, and checkpoints. */
  readonly events: number
  readonly checkpoints: number
  /** Seconds that the run has taken, over all processes that worked on it. */
  readonly seconds: number
}

/** Something that a run tells. `progress` moves on a terminal, and is not kept. */
interface Told {
  readonly type: string
  readonly metrics?: Metrics
}

/**
 * What a run keeps of itself: its state, its blobs and its story. {@link checkpoint} makes what was done durable, so
 * that the run can go on after `kill -9`.
 */
export abstract class RunJournal<S extends JournalState, E extends Told> {
  readonly run: Run
  readonly clock: Clock
  state: S
  blobs: Readonly<Record<string, BlobRef>>
  readonly #store: Store
  readonly #onEvent: ((event: E) => void) | undefined
  readonly #pending: RunEvent[] = []
  /** Blobs that the last checkpoint may name and the next one will not. */
  readonly #superseded: BlobRef[] = []
  /** Names that the next checkpoint's trainer states get beside their own. */
  readonly #marks = new Set<string>()
  readonly #startedAt: number
  readonly #secondsBefore: number

  constructor(parts: {
    readonly run: Run
    readonly store: Store
    readonly clock: Clock
    readonly state: S
    readonly blobs: Readonly<Record<string, BlobRef>>
    readonly onEvent: ((event: E) => void) | undefined
  }) {
    this.run = parts.run
    this.clock = parts.clock
    this.state = parts.state
    this.blobs = { ...parts.blobs }
    this.#store = parts.store
    this.#onEvent = parts.onEvent
    this.#startedAt = this.clock.now()
    this.#secondsBefore = parts.state.seconds
  }

  /**
   * What each trainer holds, for the next checkpoint, by what its blobs' names end with; `null` for one that the run needs no
   * more.
   */
  protected abstract trainerStates(): Promise<ReadonlyMap<string, Saved | null>>

  /** Brings the state up to date before it is committed. */
  protected async gather(): Promise<void> {}

  /** Lets go of what a trainer's server keeps under a path. */
  protected abstract discard(path: TrainerPath): Promise<void>

  /** Whether the run may still write; throws when it may not. Asked inside every checkpoint's transaction. */
  protected async mayWrite(_tx: Repositories): Promise<void> {}

  /** Seconds that this run has taken, over all processes that worked on it. */
  get seconds(): number {
    return this.#secondsBefore + (this.clock.now() - this.#startedAt) / 1000
  }

  /** Remembers the event for the next checkpoint, and tells whoever listens. Metrics that are not finite are left out. */
  emit(told: E): void {
    const event = told.metrics === undefined ? told : { ...told, metrics: finite(told.metrics) }
    if (event.type !== 'progress') {
      const { type, ...data } = event
      const sequence = this.state.events
      this.state = { ...this.state, events: sequence + 1 }
      this.#pending.push({ run: this.run.id, sequence, type, data: asJson(data), at: this.clock.now() })
    }
    this.#onEvent?.(event)
  }

  /**
   * Commits the state, its events and the trainers: from here the run can go on after `kill -9`. What only the checkpoint
   * before it needed is deleted then. Where it fails, the next one commits what it would have.
   * @param work commits together with the checkpoint, before it.
   */
  async checkpoint(): Promise<void>
  async checkpoint<T>(work: (tx: Repositories) => Promise<T>): Promise<T>
  async checkpoint<T>(work?: (tx: Repositories) => Promise<T>): Promise<T | undefined> {
    await this.gather()
    for (const [suffix, saved] of await this.trainerStates()) {
      const ref = saved && (await keepSaved(this.#store.blobs, saved))
      for (const name of ['trainer', ...this.#marks]) this.name(`${name}${suffix}`, ref)
    }
    this.#marks.clear()
    const sequence = this.state.checkpoints
    const counts = { checkpoints: sequence + 1, seconds: this.seconds }
    let told = 0
    const committed = await this.#store.transaction(async (tx) => {
      await this.mayWrite(tx)
      const result = await work?.(tx)
      const events = this.#pending.slice()
      const state = asJson({ ...this.state, ...counts })
      await tx.runs.appendEvents(events)
      const { id } = this.run
      await tx.runs.saveCheckpoint({ run: id, sequence, state, blobs: this.blobs, at: this.clock.now() })
      told = events.length
      return result
    })
    this.state = { ...this.state, ...counts }
    this.#pending.splice(0, told)
    const named = new Set(Object.values(this.blobs).map(blobKey))
    for (const old of this.#superseded.splice(0)) {
      if (named.has(blobKey(old))) continue
      await (typeof old === 'string' ? this.#store.blobs.delete(old) : this.discard(old))
    }
    return committed
  }

  /** Keeps the trainers' states of the next checkpoint under a name of their own, until that name is given again. */
  protected mark(name: string): void {
    this.#marks.add(name)
  }

  /** Names a blob in the next checkpoint; with `null`, none. What had the name goes when it is committed. */
  protected name(name: string, ref: BlobRef | null): void {
    const { [name]: earlier, ...others } = this.blobs
    this.blobs = ref === null ? others : { ...others, [name]: ref }
    if (earlier !== undefined && (ref === null || blobKey(earlier) !== blobKey(ref))) this.#superseded.push(earlier)
  }
}

/** What a run's zod schemas and event types say is JSON. */
const asJson = (value: object) => value as Record<string, Json>
