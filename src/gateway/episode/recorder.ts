import { type ChatRequest, systemClock, turns } from '../../core/index.ts'
import { GatewayError } from '../errors.ts'
import type { Begun, RequestContext } from '../ports.ts'
import { Admissions, type AskStore } from './admission.ts'
import { Claims } from './claims.ts'
import { randomIds } from './ids.ts'
import { KnownNodes } from './known-nodes.ts'
import type { Desk } from './desk.ts'
import type { OpenCall } from './open-call.ts'
import { Opening } from './opening.ts'
import { Places } from './places.ts'
import { Recalls } from './recalls.ts'
import { ReadingBack } from './reading-back.ts'
import type { EpisodeRecorderOptions, ForgetfulRecorder } from './recorder-options.ts'
import { givenUpAfter, Recovery } from './recovery.ts'
import { redactSession } from './redaction/index.ts'
import { completionOf, type Given } from './replay.ts'
import { VersionBook } from './version-book.ts'

const defaultMemory = 64 * 1024 * 1024
/** How long a call may wait for its trajectory to be read back from the store. */
const readPatienceMs = 2_000
const hourMs = 60 * 60 * 1_000

/** Finds the episode that each request belongs to, and records its calls in the store. */
export function episodeRecorder(options: EpisodeRecorderOptions): ForgetfulRecorder {
  return new StoringRecorder(options)
}

class StoringRecorder implements ForgetfulRecorder {
  readonly #options: EpisodeRecorderOptions
  readonly #desk: Desk
  readonly #opening: Opening
  readonly #admissions: Admissions
  readonly #claims: Claims | null
  readonly #recovery: Recovery
  readonly #open = new Set<OpenCall>()
  #closing: Promise<void> | null = null

  constructor(options: EpisodeRecorderOptions) {
    const { store, config, mode, redaction, weightsOf, onProblem = () => {}, exclusive = false } = options
    const { clock = systemClock, ids = randomIds, memoryBytes = defaultMemory } = options
    const { journalMs } = config
    const { traffic } = store
    const gateway = `g_${randomIds()}`
    const known = new KnownNodes(memoryBytes)
    const recalls = new Recalls(memoryBytes / 4, (trajectory) => known.forgets(trajectory))
    const readingBack = new ReadingBack(store.trajectories)
    const ask: AskStore = (question, otherwise) => this.#ask(question, otherwise)
    this.#options = options
    this.#claims = exclusive ? null : new Claims({ claims: store.claims, gateway, clock, onProblem })
    this.#recovery = new Recovery({ traffic, exclusive, journalMs, clock, onProblem })
    this.#admissions = new Admissions({
      traffic,
      readingBack,
      claims: this.#claims,
      knownMs: config.idempotencyHours * hourMs,
      ready: this.#recovery.ready,
      ask,
      clock,
    })
    this.#desk = {
      traffic,
      known,
      recalls,
      places: new Places({
        store,
        readingBack,
        known,
        recalls,
        ask,
        onProblem,
        sessionAsStored: (name, tenant) => redactSession(name, tenant, redaction),
        patienceMs: readPatienceMs,
      }),
      versions: new VersionBook(store.versions),
      redaction,
      mode,
      clock,
      gateway,
      journalMs,
      beatMs: givenUpAfter(journalMs) / 4,
      weightsOf,
      ownDefaults: options.ownDefaults ?? (() => true),
      onProblem,
    }
    const { agents = () => null, onFallBack = () => {}, onNoRecall = (_, cause) => onProblem(cause) } = options
    this.#opening = new Opening(this.#desk, { agents, onFallBack, onNoRecall, train: config.train, ids })
  }

  async begin(request: ChatRequest, context: RequestContext): Promise<Begun> {
    if (this.#closing) throw closing()
    const startedAt = this.#desk.clock.now()
    await turns.next(context.weight ?? 0)
    const admission = await this.#admissions.admit(request, context, startedAt)
    if (admission.kind === 'in-flight') return admission
    if (admission.kind === 'given') return replay(admission.given)
    const { admitted } = admission
    try {
      return { kind: 'call', record: await this.#opening.open(request, context, startedAt, admitted, this.#open) }
    } catch (error) {
      admitted.undo()
      throw error
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  forget(): void {
    this.#desk.known.clear()
    this.#desk.recalls.clear()
    this.#desk.places.clear()
    this.#admissions.clear()
  }

  /** A question to the store: where calls must be recorded, one that fails fails the call before it is made. */
  async #ask<T>(question: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await question()
    } catch (error) {
      if (this.#options.mode === 'required') throw error
      this.#desk.onProblem(error)
      return otherwise
    }
  }

  async #close(): Promise<void> {
    this.#recovery.close()
    const last = [...this.#open].map((call) => call.cancel())
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.closeMs ?? 5_000)
    })
    const ends = Promise.allSettled(last).then((outcomes) => {
      for (const outcome of outcomes) if (outcome.status === 'rejected') this.#desk.onProblem(outcome.reason)
    })
    await Promise.race([ends.then(() => this.#claims?.close()), patience])
    clearTimeout(timer)
  }
}

const replay = (given: Given): Begun => ({
  kind: 'replay',
  completion: completionOf(given),
  trajectory: given.trajectory,
  call: given.call,
  served: given.served,
})

const closing = () =>
  new GatewayError({
    status: 503,
    type: 'server_error',
    code: 'gateway/shutting-down',
    message: 'The gateway is shutting down.',
    hint: 'Send the request again: another process will answer.',
    retryAfterSeconds: 1,
  })
