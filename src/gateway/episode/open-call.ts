import {
  type CallId,
  type ChatHistory,
  type ChatRequest,
  contentHash,
  type RequestIdentity,
  type TrafficHead,
  type TrajectoryId,
  type VersionId,
  type WeightsValue,
  turns,
} from '../../core/index.ts'
import { RatchetError } from '../../errors/index.ts'
import type { z } from 'zod'
import type { ServedSession } from '../agents/index.ts'
import { type Answer, type CallEnd, type CallRecord, type Committed, erasedCall } from '../ports.ts'
import { answersIn } from './answer-node.ts'
import type { CallFacts } from './call-facts.ts'
import { callPart, type CallPart } from './call-part.ts'
import type { Desk } from './desk.ts'
import { responseIdOf } from './ids.ts'
import { Journal } from './journal.ts'
import { type Asker, turnDigest } from './places.ts'
import { type Redaction, redactId } from './redaction/index.ts'
import type { Given } from './replay.ts'

/** A call as it is asked: what the policy reads, and what answers it. */
export interface AskedCall {
  readonly facts: CallFacts
  /** As it goes on to the upstream. */
  readonly request: ChatRequest
  readonly weights: z.infer<typeof WeightsValue> | null
  readonly history: ChatHistory | null
  /** `null` for an agent without releases. */
  readonly served: ServedSession | null
}

/** One call under way. */
export interface OpenCallOptions {
  readonly asked: AskedCall
  /** The same call under what serves everybody else; `null` where that would change nothing. */
  readonly otherwise: ((cause: unknown) => Promise<AskedCall | null>) | null
  readonly head: TrafficHead
  readonly asker: Asker
  /** Of all readings of the request; its answer's is one of them. */
  readonly redaction: Redaction
  readonly identity: RequestIdentity
  /** Told once, when the call is over: what was given to the client, or `null` when it got no answer. */
  readonly onEnd: (given: Given | null) => void
}

/** The record of one call: kept while its answer grows, committed at its end. */
export class OpenCall implements CallRecord {
  readonly trajectory: TrajectoryId
  readonly call: CallId
  readonly responseId: string
  readonly #desk: Desk
  readonly #options: OpenCallOptions
  #asked: AskedCall
  #fellBack = false
  readonly #journal: Journal
  #finished: Promise<Committed> | null = null

  constructor(desk: Desk, options: OpenCallOptions) {
    const { trajectory, call } = options.asked.facts
    this.trajectory = trajectory
    this.call = call
    this.responseId = responseIdOf(trajectory, call)
    this.#desk = desk
    this.#options = options
    this.#asked = options.asked
    // What is late in half an answer is not to withhold the whole one.
    const ofHalves = desk.redaction.together()
    this.#journal = new Journal({
      everyMs: desk.journalMs,
      beatMs: desk.beatMs,
      save: (answer) => this.#keep(answer, ofHalves),
      onProblem: desk.onProblem,
    })
  }

  get request(): ChatRequest {
    return this.#asked.request
  }

  get weights(): z.infer<typeof WeightsValue> | null {
    return this.#asked.weights
  }

  get history(): ChatHistory | null {
    return this.#asked.history
  }

  get served(): CallRecord['served'] {
    const { served } = this.#asked
    return served && { by: served.servedBy, generation: served.generation }
  }

  async fallBack(cause: unknown): Promise<boolean> {
    if (this.#fellBack) return false
    this.#fellBack = true
    const other = (await this.#options.otherwise?.(cause)) ?? null
    if (other) this.#asked = other
    return other !== null
  }

  progress(answer: () => Answer): void {
    this.#journal.progress(answer)
  }

  /** The first call counts: whoever asks again gets the same. */
  finish(end: CallEnd): Promise<Committed> {
    this.#finished ??= this.#finish(end)
    return this.#finished
  }

  /** Ends the call from outside, with what came so far. */
  cancel(): Promise<Committed> {
    return this.finish({ answer: this.#journal.latest, stopReason: 'cancelled', failure: null })
  }

  async #finish(end: CallEnd): Promise<Committed> {
    await this.#journal.end()
    const weight = this.#weight(end)
    let given: Given | null = null
    try {
      await turns.next(weight)
      const made = await this.#part(end, this.#options.redaction)
      await turns.next(weight)
      await this.#commit(made, { complete: isComplete(end), weight })
      given = this.#givenBy(end)
      return { recorded: true, nodes: made.nodes }
    } catch (error) {
      this.#leavesRecall()
      if (this.#desk.mode === 'required') throw error
      this.#desk.onProblem(error)
      const reason = RatchetError.is(error) ? error.code : 'gateway/unexpected'
      if (reason !== erasedCall) given = this.#givenBy(end)
      return { recorded: false, reason }
    } finally {
      this.#options.onEnd(given)
    }
  }

  #weight({ answer }: CallEnd): number {
    return this.#asked.facts.weight + (answer?.weight ?? 0)
  }

  async #keep(answer: Answer, redaction: Redaction): Promise<void> {
    const { part } = await this.#part({ answer, stopReason: 'interrupted', failure: null }, redaction)
    await this.#desk.traffic.savePending({
      call: this.call,
      gateway: this.#desk.gateway,
      head: this.#head(),
      part,
      updatedAt: this.#desk.clock.now(),
    })
  }

  async #part(end: CallEnd, redaction: Redaction): Promise<CallPart> {
    if (answersIn(end.answer?.choices ?? []).length > 0) this.#takesRecall()
    const { known, ownDefaults, clock } = this.#desk
    const context = {
      known,
      version: await this.#version(end.answer),
      ownDefaults: end.answer === null || ownDefaults(end.answer.upstream),
      now: clock.now(),
    }
    return callPart(this.#asked.facts, end, { ...context, redaction })
  }

  /** This call writes what was recalled, unless another one did that stays: of a call that is repeated nothing does. */
  #takesRecall(): void {
    const { recalled, retryOf } = this.#asked.facts
    if (!recalled) return
    const { recall } = recalled
    if (recall.writtenBy === null || recall.writtenBy === retryOf) recall.writtenBy = this.call
  }

  /** Another call may write what was recalled: this one did not. */
  #leavesRecall(): void {
    const recall = this.#asked.facts.recalled?.recall
    if (recall?.writtenBy === this.call) recall.writtenBy = null
  }

  async #version(answer: Answer | null): Promise<VersionId | null> {
    if (answer === null || answersIn(answer.choices).length === 0) return null
    const { versions, weightsOf, redaction } = this.#desk
    const { facts, weights } = this.#asked
    const answered = weightsOf(answer.upstream, facts.request.model)
    const base = redactId(answered.base, redaction)
    return versions.versionOf({
      ...answered,
      ...(base.changed && { base: base.value, baseHash: contentHash(base.value) }),
      adapter: weights?.adapter ?? null,
    })
  }

  async #commit(
    { part, turns, learned }: CallPart,
    { complete, weight }: { readonly complete: boolean; readonly weight: number },
  ): Promise<void> {
    const { traffic, known, places } = this.#desk
    const { asker, identity } = this.#options
    const { facts } = this.#asked
    const { trajectory } = this
    await traffic.append({
      head: this.#head(),
      part,
      turns: turns.map(({ digest, node }) => ({ digest: turnDigest(digest, trajectory, asker), node })),
      // A request that got no answer may be asked again: nothing is known of it.
      identity: complete ? identity : null,
      weight,
    })
    for (const { node, digests } of learned) known.add(trajectory, node, digests)
    if (facts.conversation.tools) known.addToolset(trajectory, facts.conversation.tools.key)
    places.remember(trajectory, turns, asker)
  }

  /** Forbidden once is forbidden: calls of the same trajectory may have begun later and ended sooner. */
  #head(): TrafficHead {
    const { head } = this.#options
    const tree = this.#desk.known.tree(this.trajectory)
    const train = head.origin.train && tree.train
    return { ...head, origin: { ...head.origin, train, servedBy: tree.servedBy ?? head.origin.servedBy } }
  }

  #givenBy(end: CallEnd): Given | null {
    if (!isComplete(end) || end.answer === null) return null
    const { choices, servedModel, usage } = end.answer
    const { startedAt } = this.#asked.facts
    return {
      trajectory: this.trajectory,
      call: this.call,
      servedModel,
      startedAt,
      choices: answersIn(choices),
      usage,
      served: this.served?.by ?? null,
    }
  }
}

/** Whether the client got all that it asked for: repeating the request, it gets the same. */
function isComplete({ answer, stopReason, failure }: CallEnd): boolean {
  if (failure !== null || answer === null || answer.choices.length === 0) return false
  return stopReason === 'done' || stopReason === 'token-budget'
}
