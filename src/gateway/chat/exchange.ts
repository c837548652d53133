import type { ChatChunk, ChatCompletion, Clock, EpisodeFailure, StopReason } from '../../core/index.ts'
import { InvariantError } from '../../errors/index.ts'
import type { Call } from '../http/calls.ts'
import { type Problem, problemOf } from '../http/problem.ts'
import type { Log } from '../log.ts'
import type { Answer, CallRecord, CallTelemetry, Committed } from '../ports.ts'
import { Accumulator } from './accumulator.ts'

type Outcome = Parameters<CallTelemetry['end']>[0]

/** What the client's going away is told as, where it is told of at all: nginx's status for it. */
const clientClosedRequest = 499

/** One call from its begin to its commit: what the upstream said so far, and how it ended, which is recorded once. */
export class Exchange {
  readonly record: CallRecord
  readonly #call: Call
  readonly #telemetry: CallTelemetry
  readonly #log: Log
  readonly #clock: Clock
  /** How many answers were asked for. */
  readonly #asked: number
  #said: Accumulator | null = null
  #ended = false
  readonly #snapshot = (): Answer => this.#soFar.answer()

  constructor(parts: {
    readonly record: CallRecord
    readonly call: Call
    readonly telemetry: CallTelemetry
    readonly log: Log
    readonly clock: Clock
    readonly asked: number
  }) {
    this.record = parts.record
    this.#call = parts.call
    this.#telemetry = parts.telemetry
    this.#log = parts.log
    this.#clock = parts.clock
    this.#asked = parts.asked
  }

  /** @param upstream which one answers. */
  begins(upstream: string): void {
    this.#said = new Accumulator(upstream, this.#clock)
  }

  take(chunk: ChatChunk): void {
    const said = this.#soFar
    const silent = said.firstTokenAt === null
    said.add(chunk)
    if (silent && said.firstTokenAt !== null) this.#telemetry.firstToken()
    this.record.progress(this.#snapshot)
  }

  takeWhole(completion: ChatCompletion): void {
    this.#soFar.addWhole(completion)
  }

  /** Whether all answers that were asked for said why they ended: what is left to come is no part of them. */
  get complete(): boolean {
    return this.#said !== null && this.#said.finished >= this.#asked
  }

  /**
   * Commits the answer, which came to its end.
   * @throws StoreError under `record: required` when it could not be written.
   */
  async succeed(): Promise<Committed> {
    const said = this.#soFar
    const answer = said.answer()
    const end = endOf(answer, said)
    this.#endOnce()
    const began = performance.now()
    try {
      const committed = await this.record.finish({ answer: said.empty ? null : answer, ...end })
      const commitMs = performance.now() - began
      this.#tell({ status: 200, answer, failure: end.failure, committed, commitMs })
      return committed
    } catch (error) {
      const { status, code, message } = this.#logged(error)
      this.#tell({ status, answer, failure: { code, message }, committed: { recorded: false, reason: code } })
      throw error
    }
  }

  /**
   * Commits what came before `error`.
   * @returns what the client is told.
   */
  async fail(error: unknown): Promise<Problem> {
    const problem = problemOf(error)
    const { stopReason, failure, status } = this.#broken(problem)
    const answer = this.#said === null || this.#said.empty ? null : this.#said.answer()
    if (problem.status === 500) this.#log.error({ err: error, call: this.record.call }, 'a call failed unexpectedly')
    this.#endOnce()
    const committed = await this.#commitFailed({ answer, stopReason, failure })
    this.#tell({ status, answer, failure, committed })
    return problem
  }

  get #soFar(): Accumulator {
    if (this.#said === null) throw new InvariantError('an exchange took an answer before it began')
    return this.#said
  }

  #tell(outcome: Omit<Outcome, 'trajectory' | 'responseId'>): void {
    const { trajectory, responseId } = this.record
    this.#telemetry.end({ ...outcome, trajectory, responseId })
  }

  #endOnce(): void {
    if (this.#ended) throw new InvariantError('an exchange ended twice')
    this.#ended = true
  }

  /** The client hears of the failure in any case; that it could not be recorded, too, is the log's. */
  async #commitFailed(end: Parameters<CallRecord['finish']>[0]): Promise<Committed> {
    try {
      return await this.record.finish(end)
    } catch (error) {
      return { recorded: false, reason: this.#logged(error).code }
    }
  }

  #logged(error: unknown): Problem {
    this.#log.error({ err: error, call: this.record.call }, 'a call could not be recorded')
    return problemOf(error)
  }

  #broken({ code, message, status }: Problem): {
    readonly stopReason: StopReason
    readonly failure: EpisodeFailure | null
    readonly status: number
  } {
    switch (this.#call.stopped) {
      case 'client-gone':
      case 'slow-reader':
        return { stopReason: 'cancelled', failure: null, status: clientClosedRequest }
      case 'shutting-down':
        return { stopReason: 'interrupted', failure: { code, message }, status }
      case null:
        return { stopReason: 'model-error', failure: { code, message }, status }
    }
  }
}

/** How an answer ended that the upstream brought to its end. One that does not say why it ended may lack its rest. */
function endOf(answer: Answer, said: Accumulator): { stopReason: StopReason; failure: EpisodeFailure | null } {
  if (!said.complete || said.empty) {
    const message = 'The upstream ended its answer without saying why.'
    return { stopReason: 'model-error', failure: { code: 'gateway/unfinished-answer', message } }
  }
  const cut = answer.choices.every(({ finish }) => finish === 'length')
  return { stopReason: cut ? 'token-budget' : 'done', failure: null }
}
