import { join } from 'node:path'
import { type BlobHash, type Clock, type Saved, systemClock } from '../core/index.ts'
import { bytesOf } from '../model/index.ts'
import { fileBlobs, lockForWriting, makeFolder } from '../store/index.ts'
import { absent, requestError } from './errors.ts'
import type { Outcome, Settled, StoredModel, StoredRequest, StoredSampler, TrainerEvent } from './journal/events.ts'
import { Journal, UnwritableEventError } from './journal/journal.ts'
import { shortened } from './journal/shortened.ts'
import { letGoBy, putFor } from './journal/let-go.ts'
import { TrainerState } from './journal/state.ts'
import { KeptResults } from './kept-results.ts'
import { Listeners } from './listeners.ts'
import { defaultLimits, type ServedModel, type TrainerLimits, type TrainerOptions } from './options.ts'
import { blobsIn, sweepLeft } from './sweep.ts'
import { BlobShelf } from './work/blob-shelf.ts'
import { ModelLane } from './work/model-lane.ts'
import { SampleDesk } from './work/sample-desk.ts'
import { Suspects } from './work/suspects.ts'

/** A journal that is longer is written anew without what is over, once it has doubled. */
const mostJournalBytes = 256 * 1024 * 1024

/** The models of a trainer server and their requests. What it has accepted is on the disk, and is done once, whatever happens. */
export class TrainerHost {
  readonly state: TrainerState
  readonly service: ServedModel
  readonly alpha: number
  readonly limits: TrainerLimits
  readonly clock: Clock
  readonly results: KeptResults
  readonly #options: TrainerOptions
  readonly #journal: Journal
  readonly #blobs: BlobShelf
  readonly #lanes = new Map<string, ModelLane>()
  readonly #desk: SampleDesk
  readonly #suspects: Suspects
  readonly #listeners = new Listeners()
  readonly #release: () => void
  /** Ends when what was last let go of is off the disk. */
  #discarded: Promise<void> = Promise.resolve()
  /** A tidy that is under way. */
  #tidying: Promise<void> | null = null
  #closing = false
  #dead = false

  private constructor(options: TrainerOptions, state: TrainerState, journal: Journal, release: () => void) {
    const { service, alpha = 32, limits, clock = systemClock } = options
    this.service = service
    this.alpha = alpha
    this.limits = { ...defaultLimits, ...limits }
    this.clock = clock
    this.state = state
    this.results = new KeptResults(state, clock, options.resultMs ?? 3_600_000)
    this.#options = options
    this.#journal = journal
    this.#release = release
    this.#blobs = new BlobShelf(fileBlobs(blobsIn(options.folder)), (hash) => state.names(hash))
    this.#suspects = new Suspects({
      state,
      begin: (ids) => this.append({ type: 'begun', requests: [...ids] }, 'process'),
    })
    this.#desk = new SampleDesk({
      ...this.#place(),
      service,
      mostAdapters: this.limits.adapters,
    })
  }

  /**
   * Opens the folder, and goes on with what was accepted and is not done.
   * @throws LockedStoreError when another server has it; InputError for a journal that cannot be read.
   */
  static async open(options: TrainerOptions): Promise<TrainerHost> {
    await makeFolder(options.folder)
    const lock = await lockForWriting(join(options.folder, 'trainer'))
    const release = () => lock.release()
    try {
      const state = new TrainerState()
      let told: (event: TrainerEvent, letGo: readonly BlobHash[]) => void = () => {}
      const journal = await Journal.open(join(options.folder, 'journal.jsonl'), (event) => {
        const letGo = letGoBy(event, state)
        state.apply(event)
        told(event, letGo)
      })
      const host = new TrainerHost(options, state, journal, release)
      told = (event, letGo) => host.#heard(event, letGo)
      await host.#shorten()
      await sweepLeft(options.folder, state).catch((error: unknown) => options.onUnswept?.(error))
      for (const { model } of state.models.values()) host.#lane(model).wake()
      for (const request of state.waitingSamples()) host.#sample(request)
      return host
    } catch (error) {
      release()
      throw error
    }
  }

  /** Writes an event down; resolves when it counts. @param outlasts see {@link Journal.append}. */
  async append(event: TrainerEvent, outlasts: 'machine' | 'process' = 'machine'): Promise<void> {
    if (this.#dead) throw requestError('closing', 'The server is closing.', 'Try again in a moment.', { status: 429 })
    await this.#journal.append(event, outlasts).catch((error: unknown) => {
      if (!(error instanceof UnwritableEventError)) this.#fatal(error)
      throw error
    })
  }

  /** The number of a model's request that is done or under way and that none may come before; -1: there is none. */
  passed(model: string): number {
    return Math.max(this.state.models.get(model)?.passed ?? -1, this.#lanes.get(model)?.barrier ?? -1)
  }

  /** The result of a request of this owner, as soon as it is there; `null` when it is not within the time. */
  async outcome(owner: string, id: string, withinMs: number, signal: AbortSignal): Promise<Outcome | null> {
    const held = this.state.requests.get(id)
    if (held === undefined || held.request.owner !== owner) throw absent('request', id, 'request_id')
    if (held.outcome !== null || withinMs === 0 || signal.aborted) return held.outcome
    await this.#listeners.wait(id, withinMs, signal)
    return this.state.requests.get(id)?.outcome ?? null
  }

  /** Ends sessions, forgets results that are old, and makes the journal shorter where it has grown long. */
  async tidy(isStale: (session: string) => boolean): Promise<void> {
    if (this.#tidying !== null || this.#closing) return
    this.#tidying = this.#tidy(isStale)
    try {
      await this.#tidying
    } finally {
      this.#tidying = null
    }
  }

  /** Unloads the models of a session and ends its samplers. */
  async endSession(session: string): Promise<void> {
    await this.append({ type: 'session-ended', session, at: this.clock.now() })
    await this.#discarded
  }

  /** Deletes a checkpoint; sampling sessions that were opened on it go on. */
  async deleteCheckpoint(path: string): Promise<void> {
    await this.append({ type: 'checkpoint-deleted', path })
    await this.#discarded
  }

  /** Writes down a sampler, whose weights stay even if what named them before goes meanwhile. */
  async addSampler(sampler: StoredSampler): Promise<void> {
    const blobs = sampler.weights ? [sampler.weights.blob] : []
    this.#blobs.hold(blobs)
    try {
      await this.append({ type: 'sampler', sampler })
    } finally {
      this.#blobs.release(blobs)
      await this.#blobs.discard(blobs)
    }
  }

  /** Bytes that were kept. */
  blob(hash: BlobHash): Promise<Uint8Array> {
    return this.#blobs.get(hash)
  }

  /** Ends after the steps under way; what waits is done after the next start. */
  async close(): Promise<void> {
    this.#closing = true
    this.#listeners.tellAll()
    // What it does to the journal must not come after another server has the folder. Whoever began it is told of its error.
    await this.#tidying?.catch(() => {})
    await Promise.all([this.#desk.close(), ...[...this.#lanes.values()].map((lane) => lane.stop())])
    this.#dead = true
    await this.#journal.close()
    this.#release()
  }

  #place() {
    return {
      keep: async (saved: Saved) => this.#blobs.put(bytesOf(saved)),
      blob: (hash: BlobHash) => this.#blobs.get(hash),
      checkpoint: (path: string, owner: string) => {
        const found = this.state.checkpoints.get(path)
        return found?.owner === owner ? found : null
      },
      hasSampler: (id: string) => this.state.samplers.has(id),
      now: () => this.clock.now(),
      settle: (done: Omit<Settled, 'type' | 'at'>) => this.#settle(done),
      onFatal: (error: unknown) => this.#fatal(error),
      suspects: this.#suspects,
      putBack: (ids: readonly string[]) => this.append({ type: 'put-back', requests: [...ids] }, 'process'),
      isOver: (id: string) => this.state.requests.get(id)?.outcome != null,
    }
  }

  async #tidy(isStale: (session: string) => boolean): Promise<void> {
    const stale = [...this.state.sessions.keys()].filter((id) => isStale(id))
    for (const id of stale) if (!this.#closing) await this.endSession(id)
    this.results.forget()
    if (!this.#closing && this.#journal.isLongerThan(mostJournalBytes)) await this.#shorten()
  }

  async #settle(done: Omit<Settled, 'type' | 'at'>): Promise<void> {
    const at = this.clock.now()
    await this.append({ type: 'settled', at, ...done }).catch((error: unknown) => {
      if (!(error instanceof UnwritableEventError)) throw error
      const requests = done.requests.map(({ id }) => ({ id, outcome: error.outcome }))
      return this.append({ type: 'settled', at, requests })
    })
    this.#blobs.release(putFor(done))
    // Its model or its session may have ended meanwhile.
    await this.#blobs.discard(putFor(done))
  }

  #heard(event: TrainerEvent, letGo: readonly BlobHash[]): void {
    if (letGo.length > 0) this.#discarded = this.#blobs.discard(letGo).catch((error: unknown) => this.#fatal(error))
    if (event.type === 'accepted') {
      const { subject } = event.request
      const model = subject.kind === 'model' ? this.state.models.get(subject.id)?.model : undefined
      if (model) this.#lane(model).wake()
      else this.#sample(event.request)
    }
    if (event.type === 'settled') for (const { id } of event.requests) this.#listeners.tell(id)
    if (event.type !== 'session-ended' && !(event.type === 'settled' && event.unloaded)) return
    for (const [id, lane] of this.#lanes) {
      if (this.state.models.has(id)) continue
      this.#lanes.delete(id)
      void lane.stop()
    }
    for (const id of this.#listeners.ids()) if (this.state.requests.get(id)?.outcome) this.#listeners.tell(id)
  }

  #lane(model: StoredModel): ModelLane {
    const { service, snapshotMs = 10_000 } = this.#options
    const lane =
      this.#lanes.get(model.id) ?? new ModelLane(model, { ...this.#place(), service, state: this.state, snapshotMs })
    this.#lanes.set(model.id, lane)
    return lane
  }

  #sample(request: StoredRequest): void {
    const sampler = this.state.samplers.get(request.subject.id)
    if (sampler) this.#desk.take(request, sampler)
  }

  #fatal(error: unknown): void {
    if (this.#dead) return
    this.#dead = true
    this.#options.onFatal(error)
  }

  #shorten(): Promise<void> {
    return this.#journal.rewrite(() => shortened(this.state))
  }
}
