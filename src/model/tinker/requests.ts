import { z } from 'zod'
import type { OnTinkerEvent } from './events.ts'
import { cancelled, failed, malformed, refused, unreachable } from './failures.ts'
import { Patience, type PatienceLimits } from './patience.ts'
import { readPass, readSample } from './protobuf.ts'
import { Slots } from './slots.ts'
import type { AnswerBody, HttpOutcome, HttpRequest, TinkerHttp } from './tinker-http.ts'
import { Failed, FutureCreated, NotYet, PassResult, SampleResult } from './wire.ts'

export interface RequestsOptions extends PatienceLimits {
  /** Requests with a result that is still to come, at once. */
  readonly concurrency: number
  readonly onEvent: OnTinkerEvent
}

/** Reads the content of an answer. @throws Error that names the field. */
export type Reads<T> = (body: AnswerBody) => T

/** Reads JSON by a schema. */
export const json =
  <T>(schema: z.ZodType<T>): Reads<T> =>
  (body) => {
    if (body.type !== 'json') throw new Error(`a ${body.type} where JSON was due`)
    const parsed = schema.safeParse(body.value)
    if (parsed.success) return parsed.data
    throw new Error(z.prettifyError(parsed.error).replaceAll(/\s+/g, ' ').slice(0, 500))
  }

/** Reads the bytes of a file. */
export const file: Reads<Uint8Array> = (body) => {
  if (body.type !== 'file') throw new Error(`${body.type} where a file was due`)
  return body.bytes
}

/** Results of passes and samples come in either format. */
export const passResult: Reads<z.infer<typeof PassResult>> = (body) =>
  body.type === 'protobuf' ? readPass(body.bytes) : json(PassResult)(body)
export const sampleResult: Reads<z.infer<typeof SampleResult>> = (body) =>
  body.type === 'protobuf' ? readSample(body.bytes) : json(SampleResult)(body)

/** A request that the server took. Its result is wrapped, so that awaiting the acceptance does not await the result. */
export interface Accepted<A, T> {
  readonly answer: A
  readonly result: Promise<T>
}

/** `retrieve_future` answers a bare 400 where a proxy puts one in; the official SDK asks so often again. */
const maxBadRequests = 3
/** A lost promise (410) is asked for anew by sending the request again; not for ever. */
const maxResubmissions = 3

/**
 * Requests of the Tinker protocol: sent until they are taken, and asked about until they have a result. The treatment of
 * statuses is that of the official Python SDK 0.25.0 (`lib/api_future_impl.py`), with a bound on every count:
 * 408 and `try_again` ask on; 410 sends the request again; 429 and no connection back off; 5xx is tried again; a bare 400
 * to a question for a result three times; everything else ends it. A request is repeated byte by byte, so that the server
 * knows it again by its model and sequence number.
 */
export class Requests {
  readonly #http: TinkerHttp
  readonly #options: RequestsOptions
  readonly #slots: Slots
  readonly #closing: AbortSignal

  constructor(http: TinkerHttp, options: RequestsOptions, closing: AbortSignal) {
    this.#http = http
    this.#options = options
    this.#slots = new Slots(options.concurrency)
    this.#closing = closing
  }

  /**
   * Sends a request that is answered at once.
   * @throws TinkerError
   */
  async ask<T>(request: HttpRequest, what: string, read: Reads<T>, signal?: AbortSignal): Promise<T> {
    const scope = this.#scope(signal)
    return this.#sent(request, what, read, scope, this.#patience(what, scope))
  }

  /**
   * Sends a request once, and waits for no more than an answer to it.
   * @throws TinkerError where none comes, or a refusal.
   */
  async once(request: HttpRequest, what: string, signal: AbortSignal): Promise<void> {
    const outcome = await this.#http.send(request, what, this.#scope(signal))
    if (outcome.kind === 'lost') throw unreachable(what, 1, outcome.why)
    if (outcome.kind === 'status') throw refused(what, outcome.status, outcome.detail)
  }

  /**
   * Sends a request whose result comes later; resolves when the server has taken it.
   * @param taken reads the first answer, which holds a `request_id`.
   * @throws TinkerError
   */
  async start<A extends z.infer<typeof FutureCreated>, T>(
    request: HttpRequest,
    what: string,
    read: Reads<T>,
    { taken, signal }: { readonly taken: z.ZodType<A>; readonly signal?: AbortSignal | undefined },
  ): Promise<Accepted<A, T>> {
    const scope = this.#scope(signal)
    const leave = await this.#slots.take(scope, () => cancelled(what))
    try {
      const answer = await this.#sent(request, what, json(taken), scope, this.#patience(what, scope))
      const result = this.#result(request, answer.request_id, what, read, scope).finally(leave)
      // Whoever waits for it is told; until then nobody is.
      result.catch(() => {})
      return { answer, result }
    } catch (error) {
      leave()
      throw error
    }
  }

  /** {@link start}, and its result. */
  async run<T>(request: HttpRequest, what: string, read: Reads<T>, signal?: AbortSignal): Promise<T> {
    const { result } = await this.start(request, what, read, { taken: FutureCreated, signal })
    return result
  }

  async #sent<T>(
    request: HttpRequest,
    what: string,
    read: Reads<T>,
    signal: AbortSignal,
    patience: Patience,
  ): Promise<T> {
    for (;;) {
      const outcome = await patience.asked(this.#http.send(request, what, signal))
      if (outcome.kind === 'answer') {
        patience.wentWell()
        return readAnswer(outcome.body, what, read)
      }
      await goOn(outcome, what, patience)
    }
  }

  async #result<T>(request: HttpRequest, first: string, what: string, read: Reads<T>, signal: AbortSignal): Promise<T> {
    const patience = this.#patience(what, signal)
    let id = first
    let [badRequests, resubmissions] = [0, 0]
    for (let iteration = 0; ; iteration++) {
      const askedAt = performance.now()
      const outcome = await patience.asked(this.#http.send(questionFor(id, iteration), what, signal))
      if (outcome.kind === 'answer') {
        const body = outcome.body
        const notYet = body.type === 'json' && NotYet.safeParse(body.value)
        if (notYet !== false && notYet.success) {
          await patience.notYet(notYet.data, askedAt)
          continue
        }
        patience.wentWell()
        const failure = body.type === 'json' && Failed.safeParse(body.value)
        if (failure !== false && failure.success) throw failed(what, failure.data.error.slice(0, 500))
        return readAnswer(body, what, read)
      }
      if (outcome.kind === 'lost' && outcome.late) await patience.notYet(null, askedAt)
      else if (outcome.kind === 'status' && outcome.status === 408) await patience.notYet(outcome.said, askedAt)
      else if (outcome.kind === 'status' && outcome.status === 410 && resubmissions++ < maxResubmissions) {
        await patience.afterFailure(outcome)
        id = (await this.#sent(request, what, json(FutureCreated), signal, patience)).request_id
      } else if (outcome.kind === 'status' && outcome.status === 400) {
        // The server's own words on a request that failed; a proxy has none.
        if (outcome.detail !== null) throw failed(what, outcome.detail)
        if (badRequests++ >= maxBadRequests) throw refused(what, 400, null)
        await patience.afterFailure(outcome)
      } else await goOn(outcome, what, patience)
    }
  }

  #patience(what: string, signal: AbortSignal): Patience {
    return new Patience(what, this.#options, this.#options.onEvent, signal)
  }

  #scope(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#closing : AbortSignal.any([signal, this.#closing])
  }
}

const questionFor = (id: string, iteration: number): HttpRequest => ({
  method: 'POST',
  path: '/retrieve_future',
  body: { request_id: id },
  headers: { 'x-tinker-request-iteration': String(iteration) },
})

/** After what is no answer: waits for another try. @throws TinkerError where none would help. */
async function goOn(
  outcome: Exclude<HttpOutcome, { kind: 'answer' }>,
  what: string,
  patience: Patience,
): Promise<void> {
  if (outcome.kind === 'lost') return patience.afterFailure(outcome)
  const { status, detail } = outcome
  if (status === 429) return patience.whileBusy(outcome)
  // 425: a checkpoint that is still being written.
  if (status === 408 || status === 425 || (status >= 500 && status !== 501)) return patience.afterFailure(outcome)
  throw refused(what, status, detail)
}

function readAnswer<T>(body: AnswerBody, what: string, read: Reads<T>): T {
  try {
    return read(body)
  } catch (cause) {
    throw malformed(what, `something else than the protocol says: ${(cause as Error).message}`, cause)
  }
}
