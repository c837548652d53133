import type { BlobHash } from '../../core/index.ts'
import type {
  Outcome,
  Settled,
  StoredCheckpoint,
  StoredModel,
  StoredRequest,
  StoredSampler,
  StoredSession,
  TrainerEvent,
  Work,
} from './events.ts'

/** A request with what came of it. */
export interface HeldRequest {
  readonly request: StoredRequest
  readonly outcome: Outcome | null
  /** Milliseconds since the epoch; `null` while it waits. */
  readonly settledAt: number | null
  /** How often it was begun and not ended. */
  readonly begun: number
}

/** A model that is loaded, or is to be. */
export interface HeldModel {
  readonly model: StoredModel
  /** The training state from which it is made again. */
  readonly snapshot: BlobHash | null
  /** Ids of what was done since, in the order and the company in which it was done. */
  readonly since: readonly (readonly string[])[]
  /** What is still to be done, in order. */
  readonly waiting: readonly string[]
  /** The highest sequence number after which no smaller one is taken. */
  readonly passed: number
}

/** What all events together say. */
export class TrainerState {
  readonly sessions = new Map<string, StoredSession>()
  readonly models = new Map<string, HeldModel>()
  readonly samplers = new Map<string, StoredSampler>()
  readonly checkpoints = new Map<string, StoredCheckpoint>()
  readonly requests = new Map<string, HeldRequest>()
  /** Ids of requests by {@link keyOf}. */
  readonly #bySeq = new Map<string, string>()
  /** When requests were last settled. */
  #settledAt = 0

  /** Takes an event in. */
  apply(event: TrainerEvent): void {
    switch (event.type) {
      case 'session':
        return void this.sessions.set(event.session.id, event.session)
      case 'model':
        return this.#hold(event.model, event.snapshot, event.passed)
      case 'accepted':
        if (event.model) this.#hold(event.model, null, -1)
        return this.#accept(event.request)
      case 'sampler':
        return this.#addSampler(event.sampler)
      case 'checkpoint':
        return void this.checkpoints.set(event.checkpoint.path, event.checkpoint)
      case 'settled':
        return this.#settle(event)
      case 'begun':
        return this.#begin(event.requests, 1)
      case 'put-back':
        return this.#begin(event.requests, -1)
      case 'checkpoint-deleted':
        return void this.checkpoints.delete(event.path)
      case 'session-ended':
        return this.#end(event.session, event.at)
    }
  }

  /** The request that was taken with this number before, if there was one. */
  withSeq(subject: StoredRequest['subject'], seq: number | null): HeldRequest | null {
    const id = seq === null ? undefined : this.#bySeq.get(keyOf(subject, seq))
    return (id === undefined ? undefined : this.requests.get(id)) ?? null
  }

  /** How often a request was begun and not ended: as often as the process ended meanwhile, before it is begun again. */
  begun(id: string): number {
    return this.requests.get(id)?.begun ?? 0
  }

  /** Requests of samplers that wait. */
  waitingSamples(): readonly StoredRequest[] {
    return [...this.requests.values()]
      .filter(({ request, outcome }) => request.subject.kind === 'sampler' && outcome === null)
      .map(({ request }) => request)
  }

  /** Whether some part of the state needs a blob. */
  names(blob: BlobHash): boolean {
    for (const one of this.#blobs()) if (one === blob) return true
    return false
  }

  /** Every blob that some part of the state needs. */
  named(): ReadonlySet<BlobHash> {
    return new Set(this.#blobs())
  }

  /** Forgets results that are over, where nothing is made from them any more. */
  forget(isOver: (id: string, settledAt: number) => boolean): void {
    const needed = new Set([...this.models.values()].flatMap(({ since }) => since.flat()))
    for (const [id, { request, settledAt }] of this.requests) {
      if (settledAt === null || needed.has(id) || !isOver(id, settledAt)) continue
      this.requests.delete(id)
      if (request.seq !== null) this.#bySeq.delete(keyOf(request.subject, request.seq))
    }
  }

  *#blobs(): Iterable<BlobHash> {
    for (const { snapshot } of this.models.values()) if (snapshot !== null) yield snapshot
    for (const { weights } of this.samplers.values()) if (weights !== null) yield weights.blob
    for (const { weights, state } of this.checkpoints.values()) {
      yield weights
      if (state !== null) yield state
    }
  }

  /** One of a session that ended meanwhile ends with it. */
  #addSampler(sampler: StoredSampler): void {
    if (this.sessions.has(sampler.session)) this.samplers.set(sampler.id, sampler)
  }

  #hold(model: StoredModel, snapshot: BlobHash | null, passed: number): void {
    this.models.set(model.id, { model, snapshot, since: [], waiting: [], passed })
  }

  #accept(request: StoredRequest): void {
    const { id, subject, seq } = request
    const isThere = (subject.kind === 'model' ? this.models : this.samplers).has(subject.id)
    // What it was asked of may have ended while it was written down: a moment ago.
    const ended = isThere ? null : failed(`The ${subject.kind} ${subject.id} ended before it.`)
    this.requests.set(id, { request, outcome: ended, settledAt: ended && this.#settledAt, begun: 0 })
    if (seq !== null) this.#bySeq.set(keyOf(subject, seq), id)
    const held = subject.kind === 'model' ? this.models.get(subject.id) : undefined
    if (held === undefined) return
    const waiting = [...held.waiting]
    const numberAt = (i: number) => this.requests.get(waiting[i] ?? '')?.request.seq ?? -1
    let at = waiting.length
    // A request goes before those with greater numbers, which overtook it on the way.
    if (seq !== null) while (at > 0 && numberAt(at - 1) > seq) at -= 1
    waiting.splice(at, 0, id)
    this.models.set(subject.id, { ...held, waiting })
  }

  #begin(ids: readonly string[], times: number): void {
    for (const id of ids) {
      const held = this.requests.get(id)
      if (held?.outcome === null) this.requests.set(id, { ...held, begun: held.begun + times })
    }
  }

  #settle({ requests, at, sampler, checkpoint, snapshot, unloaded }: Settled): void {
    this.#settledAt = at
    if (sampler) this.#addSampler(sampler)
    if (checkpoint) this.checkpoints.set(checkpoint.path, checkpoint)
    const done = requests.map(({ id, outcome }) => {
      const request = this.requests.get(id)?.request
      if (request) this.requests.set(id, { request, outcome, settledAt: at, begun: 0 })
      return request
    })
    const [first] = done
    if (first?.subject.kind === 'sampler') return this.#drop([first.id])
    const held = this.models.get(first?.subject.id ?? '')
    if (held === undefined) return
    const ids = requests.map(({ id }) => id)
    const replayed = requests.flatMap(({ id, outcome }, i) => (isAgain(done[i]?.work, outcome) ? [id] : []))
    const waiting = held.waiting.filter((id) => !ids.includes(id))
    const passed = Math.max(held.passed, ...done.map((request) => barrierOf(request)))
    this.#drop(ids.filter((id) => !replayed.includes(id)))
    const next = { ...held, waiting, passed, since: replayed.length > 0 ? [...held.since, replayed] : held.since }
    this.models.set(held.model.id, snapshot ? { ...next, snapshot: snapshot.state, since: [] } : next)
    if (snapshot) this.#drop(next.since.flat())
    if (unloaded !== undefined) this.#unload(unloaded, at)
  }

  #unload(id: string, at: number): void {
    const held = this.models.get(id)
    this.models.delete(id)
    const outcome = failed(`The model ${id} was unloaded before it.`)
    for (const waiting of held?.waiting ?? []) {
      const request = this.requests.get(waiting)?.request
      if (request) this.requests.set(waiting, { request, outcome, settledAt: at, begun: 0 })
    }
    this.#drop(held?.since.flat() ?? [])
  }

  /** What they asked need not be known any more; what came of it stays. */
  #drop(ids: readonly string[]): void {
    for (const id of ids) {
      const held = this.requests.get(id)
      if (held) this.requests.set(id, { ...held, request: { ...held.request, work: null } })
    }
  }

  #end(session: string, at: number): void {
    this.#settledAt = at
    this.sessions.delete(session)
    for (const [id, { model }] of this.models) if (model.session === session) this.#unload(id, at)
    for (const [id, sampler] of this.samplers) if (sampler.session === session) this.samplers.delete(id)
    const outcome = failed(`The session ${session} ended before it.`)
    for (const request of this.waitingSamples()) {
      if (this.samplers.has(request.subject.id)) continue
      this.requests.set(request.id, { request, outcome, settledAt: at, begun: 0 })
    }
  }
}

const failed = (message: string): Outcome => ({ kind: 'failed', message, category: 'user' })

const keyOf = ({ kind, id }: StoredRequest['subject'], seq: number): string => `${kind} ${id} ${seq}`

/** A model is made again without it. */
const leavesAsIs = (work: Work): boolean =>
  (work.kind === 'pass' && work.forwardOnly) || work.kind === 'save_weights' || work.kind === 'save_for_sampler'

/**
 * Whether a model that is made again does it over. What was refused was not done; a step whose gradient was not finite let go
 * of that gradient, though, and a result that could not be written down was had.
 */
const isAgain = (work: Work | null | undefined, outcome: Outcome): boolean =>
  // What was done for a request whose work is known no more is in the snapshot.
  work != null &&
  !leavesAsIs(work) &&
  (outcome.kind !== 'failed' || outcome.category === 'server' || outcome.code === 'model/non-finite-gradient')

/** Passes add up in any order until the next barrier, and after it nothing that was before it is taken. */
export const barrierOf = (request: StoredRequest | undefined): number =>
  request?.work == null || request.work.kind === 'pass' ? -1 : (request.seq ?? -1)
