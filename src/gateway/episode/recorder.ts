import type { z } from 'zod'
import {
  type CallId,
  type ChatRequest,
  type Clock,
  type Store,
  systemClock,
  type TrajectoryId,
  type WeightsValue,
  blobKey,
  turns,
} from '../../core/index.ts'
import { type FindAgent, type Served, type ServedAgent, shownRequest } from '../agents/index.ts'
import type { ServeConfig } from '../config.ts'
import { GatewayError } from '../errors.ts'
import type { Begun, EpisodeRecorder, RecordMode, RequestContext } from '../ports.ts'
import { callParams, promptShape } from './call-params.ts'
import { Claims, type Hold, noHold } from './claims.ts'
import type { CallFacts } from './call-part.ts'
import { readAlike } from './attach.ts'
import { type Conversation, conversationOf, readAs } from './conversation.ts'
import { historyIn } from './history.ts'
import { type FreshIds, freshCall, freshTrajectory, randomIds, trajectoryOfSession } from './ids.ts'
import { KnownNodes } from './known-nodes.ts'
import { type AskedCall, type Desk, OpenCall } from './open-call.ts'
import { type Asker, mostBytesRead, Places } from './places.ts'
import { givenUpAfter, Recovery } from './recovery.ts'
import { type Redaction, readBy, redactName, redactSession } from './redaction/index.ts'
import { completionOf, type Given, givenIn } from './replay.ts'
import { type Claim, type Identity, identityOf, otherBody, Repeats } from './repeats.ts'
import { headOf } from './traffic-head.ts'
import { VersionBook } from './version-book.ts'

export interface EpisodeRecorderOptions {
  readonly store: Pick<Store, 'claims' | 'traffic' | 'trajectories' | 'versions'>
  readonly config: Pick<z.infer<typeof ServeConfig>, 'journalMs' | 'idempotencyHours' | 'train'>
  readonly mode: RecordMode
  readonly redaction: Redaction
  /** Finds agents that have releases. Default: there are none. */
  readonly agents?: FindAgent
  /** Told of a candidate that could not be served to a session: that gets what serves everybody else. */
  readonly onFallBack?: (agent: ServedAgent, served: Served, cause: unknown) => void
  /** What decides when this upstream answers for this model, but for its adapter. */
  readonly weightsOf: (upstream: string, model: string) => z.infer<typeof WeightsValue>
  /**
   * Whether an upstream may sample by defaults of its own where a request says nothing: vLLM takes them from the model's
   * `generation_config.json`. Then the probability of what it sampled is known only for requests that say everything.
   * Default: yes.
   */
  readonly ownDefaults?: (upstream: string) => boolean
  /**
   * Whether no other process writes the store, as with SQLite: half answers of dead processes are then found at once, and
   * no request needs a claim.
   */
  readonly exclusive?: boolean
  /** Told of what went wrong beside the calls themselves: they go on. */
  readonly onProblem?: (error: unknown) => void
  readonly clock?: Clock
  readonly ids?: FreshIds
  /** About how much memory what is known of the store's trajectories may take. Default 64 MiB. */
  readonly memoryBytes?: number
  /** How long the last commits may take when the recorder closes, in milliseconds. Default 5 s. */
  readonly closeMs?: number
}

/** The recorder, and what only this process knows. */
export interface ForgetfulRecorder extends EpisodeRecorder {
  /** Forgets everything that is also in the store, and answers that could be repeated: to be called after an erasure. */
  forget(): void
}

const defaultMemory = 64 * 1024 * 1024
/** How long a call may wait for its trajectory to be read back from the store. */
const readPatienceMs = 2_000
const hourMs = 60 * 60 * 1_000

/** Finds the episode that each request belongs to, and records its calls in the store. */
export function episodeRecorder(options: EpisodeRecorderOptions): ForgetfulRecorder {
  return new StoringRecorder(options)
}

/** A call as the client sent it, in its place. */
interface SentCall {
  readonly facts: Omit<CallFacts, 'conversation' | 'candidates' | 'generation' | 'texts'>
  readonly conversation: Conversation
  readonly asker: Asker
  /** Whether its trajectory begins with it. */
  readonly isNew: boolean
}

class StoringRecorder implements ForgetfulRecorder {
  readonly #options: EpisodeRecorderOptions
  readonly #clock: Clock
  readonly #ids: FreshIds
  readonly #desk: Desk
  readonly #repeats: Repeats
  /** `null` where no other gateway could get the same request. */
  readonly #claims: Claims | null
  readonly #recovery: Recovery
  readonly #open = new Set<OpenCall>()
  #closing: Promise<void> | null = null

  constructor(options: EpisodeRecorderOptions) {
    const { store, config, mode, redaction, weightsOf, onProblem = () => {} } = options
    const { clock = systemClock, ids = randomIds, memoryBytes = defaultMemory } = options
    const known = new KnownNodes(memoryBytes)
    this.#options = options
    this.#clock = clock
    this.#ids = ids
    this.#repeats = new Repeats(config.idempotencyHours * hourMs)
    const gateway = `g_${randomIds()}`
    this.#claims = options.exclusive ? null : new Claims({ claims: store.claims, gateway, clock, onProblem })
    this.#recovery = new Recovery({
      traffic: store.traffic,
      exclusive: options.exclusive ?? false,
      journalMs: config.journalMs,
      clock,
      onProblem,
    })
    this.#desk = {
      traffic: store.traffic,
      known,
      places: new Places({
        store,
        known,
        ask: (question, otherwise) => this.#ask(question, otherwise),
        onProblem,
        sessionAsStored: (name, tenant) => redactSession(name, tenant, redaction),
        patienceMs: readPatienceMs,
      }),
      versions: new VersionBook(store.versions),
      redaction,
      mode,
      clock,
      gateway,
      journalMs: config.journalMs,
      beatMs: givenUpAfter(config.journalMs) / 4,
      weightsOf,
      ownDefaults: options.ownDefaults ?? (() => true),
      onProblem,
    }
  }

  async begin(request: ChatRequest, context: RequestContext): Promise<Begun> {
    if (this.#closing) throw closing()
    const startedAt = this.#clock.now()
    await turns.next(context.weight ?? 0)
    const identity = identityOf(request, context)
    const remembered = this.#repeats.begin(identity, startedAt)
    if (remembered.kind === 'in-flight') return { kind: 'in-flight', retryAfterSeconds: 1 }
    if (remembered.kind === 'given') return replay(remembered.given)
    const { claim, failed } = remembered
    let hold = noHold
    const notACall = () => {
      hold.release()
      if (failed) this.#repeats.end(claim, failed)
      else this.#repeats.release(claim)
    }
    try {
      await this.#recovery.ready
      const taken = await this.#take(identity)
      hold = taken.hold ?? noHold
      // Only now: whoever held the request before has committed its answer by the time that it is let go.
      const given = remembered.kind === 'unknown' ? await this.#givenBefore(identity) : null
      if (given) {
        notACall()
        return replay(given)
      }
      if (taken.hold === null) {
        notACall()
        return { kind: 'in-flight', retryAfterSeconds: taken.retryAfterSeconds }
      }
      const record = await this.#openCall(request, context, { identity, claim, hold, startedAt, repeated: failed })
      return { kind: 'call', record }
    } catch (error) {
      notACall()
      throw error
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  forget(): void {
    this.#desk.known.clear()
    this.#desk.places.clear()
    this.#repeats.clear()
  }

  async #openCall(
    request: ChatRequest,
    context: RequestContext,
    asked: {
      readonly identity: Identity
      readonly claim: Claim
      readonly hold: Hold
      readonly startedAt: number
      /** The try that this one repeats. */
      readonly repeated: { readonly trajectory: TrajectoryId; readonly call: CallId } | null
    },
  ): Promise<OpenCall> {
    const { known, places, redaction } = this.#desk
    const { identity, claim, hold, startedAt, repeated } = asked
    const { caller, session, subject, weight = 0 } = context
    // As it is written: a key may know a person by what stands for their name.
    const about = subject === null ? null : redactName(subject, caller.tenant, redaction)
    const asker: Asker = { tenant: caller.tenant, key: caller.key, session, subject: about }
    const conversation = await conversationOf(request, redaction, weight)
    await turns.next(weight)
    const params = await readBy(redaction, weight, (by) => callParams(request, by))
    const found = repeated?.trajectory ?? (await this.#trajectoryOf(conversation, asker))
    const trajectory = found ?? freshTrajectory(this.#ids)
    if (found === null) known.tree(trajectory).complete = true
    const agent = this.#options.agents?.(caller.tenant, context.agent) ?? null
    if (agent) await places.learn(trajectory, asker)
    const tree = known.tree(trajectory)
    tree.train &&= context.train && this.#options.config.train
    const served = agent?.assign(trajectory, tree.servedBy) ?? null
    tree.servedBy ??= served?.servedBy ?? null
    const call = freshCall(this.#ids)
    const sent: SentCall = {
      facts: { trajectory, call, request, params, retryOf: repeated?.call ?? null, startedAt, weight },
      conversation,
      asker,
      isNew: found === null,
    }
    const head = { redaction, train: tree.train, servedBy: tree.servedBy, startedAt }
    const opened = new OpenCall(this.#desk, {
      asked: await this.#askedUnder(served, sent),
      otherwise: agent && served && ((cause) => this.#fallBack(agent, served, sent, cause)),
      head: headOf(trajectory, conversation, context, head),
      asker,
      identity: { key: identity.key, body: identity.body },
      onEnd: (given) => {
        this.#open.delete(opened)
        hold.release()
        this.#repeats.end(claim, { trajectory, call, given, at: this.#clock.now() })
      },
    })
    this.#open.add(opened)
    return opened
  }

  /** The call as the policy is asked it by what serves it. */
  async #askedUnder(served: Served | null, { facts, conversation: sent, asker, isNew }: SentCall): Promise<AskedCall> {
    const { places, redaction } = this.#desk
    const { request, params, trajectory } = facts
    // Beside a canary the same is done in both arms: time spent here would tell them apart.
    const alike = served !== null && served.servedBy.canary !== null
    const shown = served && (alike || served.texts.size > 0) ? shownRequest(request, served.texts) : null
    const reads = shown !== null && (alike || shown.texts.length > 0)
    const conversation = reads ? await readAs(sent, shown, redaction, facts.weight) : sent
    const found = isNew ? [] : await places.within(trajectory, conversation, asker)
    // From now on it has a continuation, for whoever looks for one that has none.
    const [first] = found
    if (first?.node) first.node.continued = true
    const candidates = readAlike(found, conversation)
    const shape = promptShape(request.model, conversation.tools?.key ?? null, params)
    return {
      facts: {
        ...facts,
        conversation,
        candidates,
        generation: served?.generation ?? 0,
        texts: shown?.texts ?? [],
      },
      request: shown?.request ?? request,
      weights: served?.weights(request.model) ?? null,
      history: historyIn(conversation, candidates, shape),
      served,
    }
  }

  /** The call under what serves everybody else; `null` where that has the same weights. */
  async #fallBack(agent: ServedAgent, served: Served, sent: SentCall, cause: unknown): Promise<AskedCall | null> {
    const { trajectory, request } = sent.facts
    const baseline = agent.baseline(trajectory, served)
    const adapterOf = (one: Served) => {
      const adapter = one.weights(request.model)?.adapter ?? null
      return adapter && blobKey(adapter)
    }
    if (baseline === null || adapterOf(baseline) === adapterOf(served)) return null
    this.#options.onFallBack?.(agent, served, cause)
    return this.#askedUnder(baseline, sent)
  }

  /** `null` where there is none yet. */
  async #trajectoryOf(conversation: Conversation, asker: Asker): Promise<TrajectoryId | null> {
    if (asker.session !== null) return trajectoryOfSession(asker.tenant, asker.session)
    return this.#desk.places.recognise(conversation, asker)
  }

  /**
   * Takes a request among all gateways of the store.
   * @throws GatewayError 409 when an idempotency key comes with another body than the one that is being answered.
   */
  async #take(identity: Identity): Promise<{ readonly hold: Hold } | { hold: null; retryAfterSeconds: number }> {
    const claims = this.#claims
    if (claims === null) return { hold: noHold }
    if (!identity.mayRepeat) return { hold: claims.takeLater(identity) }
    const taken = await this.#ask(() => claims.take(identity), { hold: noHold })
    if (taken.hold === null && taken.body !== identity.body) throw otherBody()
    return taken
  }

  /**
   * What the store knows of a request that this process does not.
   * @throws GatewayError 409 when an idempotency key comes with another body.
   */
  async #givenBefore(identity: Identity): Promise<Given | null> {
    const { store, config } = this.#options
    const { tenant, apiKey, key, body } = identity
    const known = await this.#ask(() => store.traffic.request(apiKey, tenant, { key, body }), null)
    if (known === null) return null
    const size = await this.#ask(() => store.trajectories.size(known.trajectory), null)
    // What is larger takes longer to read than to ask again.
    if (size === null || size.bytes > mostBytesRead) return null
    const recorded = await this.#ask(() => store.trajectories.get(known.trajectory), null)
    const given = recorded && givenIn(recorded.trajectory, known.call)
    if (!given || this.#clock.now() - given.endedAt > config.idempotencyHours * hourMs) return null
    if (known.body !== body) throw otherBody()
    return given
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
