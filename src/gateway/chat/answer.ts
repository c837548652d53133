import type { ServerResponse } from 'node:http'
import {
  type ChatCall,
  type ChatCompletion,
  type ChatReply,
  type ChatRequest,
  type ChatUpstream,
  type Clock,
  turns,
} from '../../core/index.ts'
import { isUnservedAdapter } from '../../model/openai/index.ts'
import type { BodyRoom } from '../http/body-room.ts'
import type { Call } from '../http/calls.ts'
import { problemOf, problemResponse } from '../http/problem.ts'
import { refusal } from '../http/refusals.ts'
import type { Log } from '../log.ts'
import type { CallRecord, EpisodeRecorder, RequestContext, Telemetry } from '../ports.ts'
import { type Alike, alikeTo, asTold } from './alike/index.ts'
import { chunksOf } from './chunks.ts'
import { Exchange } from './exchange.ts'
import { beginStream, eventHeaders, notRecorded, streamAnswer } from './stream-answer.ts'
import type { Wire } from './wire.ts'

/** What answering takes. */
export interface Serving {
  readonly upstream: ChatUpstream
  readonly recorder: EpisodeRecorder
  readonly telemetry: Telemetry
  readonly log: Log
  readonly clock: Clock
  /** How long the reader of a stream may take nothing. */
  readonly patienceMs: number
}

/** One request to a model, whichever of the APIs it came by. */
export interface Question {
  readonly request: ChatRequest
  readonly context: RequestContext
  readonly headers: Headers
  readonly call: Call
  /** What the request and its answer take of the process's memory. */
  readonly room: BodyRoom
  /** The connection's end under Node's server; `null` where there is none. */
  readonly outgoing: ServerResponse | null
  /** How the answer is told, under the id that its record gives it. */
  readonly wire: (id: string) => Wire
}

/**
 * Finds the episode that a request belongs to, asks the upstream, records, and answers. What is acknowledged is
 * committed: a whole answer follows the commit, and so does the end of a streamed one (invariant 8).
 * @throws GatewayError and StoreError from before the upstream was asked.
 */
export async function answer(serving: Serving, question: Question): Promise<Response> {
  const { request, context, headers, call } = question
  const telemetry = serving.telemetry.call({
    operation: 'chat',
    model: request.model,
    stream: request.stream === true,
    caller: context.caller,
    trajectory: null,
    headers,
  })
  const nothing = { answer: null, failure: null, committed: null }
  try {
    const begun = await serving.recorder.begin(request, context)
    switch (begun.kind) {
      case 'call': {
        const { log, clock } = serving
        await turns.next(context.weight ?? 0)
        return await ask(
          serving,
          question,
          new Exchange({ record: begun.record, call, telemetry, log, clock, asked: request.n ?? 1 }),
        )
      }
      case 'replay': {
        const { completion, trajectory, call, served } = begun
        telemetry.end({ ...nothing, status: 200, trajectory, responseId: completion.id })
        const wire = question.wire(completion.id)
        const told = { 'ratchet-trajectory': trajectory, 'ratchet-response': wire.id, 'ratchet-replayed': 'true' }
        const alike = served === null ? asTold : alikeTo({ served, request, call, created: completion.created })
        return tellAtOnce(wire, alike, completion, request.stream === true, told)
      }
      case 'in-flight':
        throw inFlight(begun.retryAfterSeconds)
    }
  } catch (error) {
    const { status, code, message } = problemOf(error)
    telemetry.end({ ...nothing, status, failure: { code, message } })
    throw error
  }
}

const inFlight = (retryAfterSeconds: number) =>
  refusal(
    'in-flight',
    'The same request is being answered.',
    'Send it again after the seconds that Retry-After says, and it gets the same answer.',
    { status: 409, retryAfterSeconds },
  )

/** Never throws: from here on, the record says how the call ended, and the telemetry was told. */
async function ask(serving: Serving, question: Question, exchange: Exchange): Promise<Response> {
  const { request, context, call, outgoing, room } = question
  const { upstream, log, patienceMs } = serving
  const { record } = exchange
  const wire = question.wire(record.responseId)
  const created = Math.floor(serving.clock.now() / 1000)
  const { served } = record
  const alike = served === null ? asTold : alikeTo({ served: served.by, request, call: record.call, created })
  const told = () => ({
    'ratchet-trajectory': record.trajectory,
    'ratchet-response': wire.id,
    'x-request-id': record.call,
    ...servedHeaders(record),
  })
  let completion: ChatCompletion
  let weight = 0
  try {
    const reply = await askAsServed(upstream, record, {
      authorization: context.caller.authorization,
      signal: call.signal,
      room,
    })
    exchange.begins(reply.upstream)
    if (reply.kind === 'stream') {
      const stream = await beginStream(reply.chunks)
      return streamAnswer({ stream, exchange, wire, alike, call, outgoing, log, patienceMs, headers: told() })
    }
    weight = reply.weight ?? 0
    await turns.next(weight)
    completion = alike.taken.whole(reply.completion)
    exchange.takeWhole(completion)
    await turns.next(weight)
  } catch (error) {
    return problemResponse(alike.problem(error, await exchange.fail(error)), told())
  }
  try {
    const committed = await exchange.succeed()
    await turns.next(weight)
    return tellAtOnce(wire, alike, completion, request.stream === true, { ...told(), ...notRecorded(committed) })
  } catch (error) {
    return problemResponse(problemOf(error), told())
  }
}

/** Asks for what serves the session; where its weights cannot be had, for what serves everybody else. */
async function askAsServed(
  upstream: ChatUpstream,
  record: CallRecord,
  call: Pick<ChatCall, 'authorization' | 'signal' | 'room'>,
): Promise<ChatReply> {
  const ask = () => {
    const { request, weights, history } = record
    return upstream.chat({ ...call, request, weights, history })
  }
  try {
    return await ask()
  } catch (error) {
    if (record.weights === null || !isUnservedAdapter(error) || !(await record.fallBack(error))) throw error
    return ask()
  }
}

/** What served an answer. Which arm of a canary that was is for nobody who could vote by it; nor its Generation, which tells. */
function servedHeaders({ served }: CallRecord): Readonly<Record<string, string>> {
  return served === null ? {} : { 'ratchet-release': served.by.release }
}

/** An answer that is known in full, as JSON or as the events of a stream. */
function tellAtOnce(
  wire: Wire,
  alike: Alike,
  completion: ChatCompletion,
  stream: boolean,
  headers: Readonly<Record<string, string>>,
): Response {
  if (!stream) return new Response(wire.whole(alike.whole(completion)), { headers: { ...jsonHeaders, ...headers } })
  const events = wire.stream()
  const chunks = [...[...chunksOf(completion)].flatMap((chunk) => alike.chunks(chunk)), ...alike.rest()]
  const texts = [events.open(chunks[0] ?? null), ...chunks.map((chunk) => events.chunk(chunk)), ...events.done()]
  return new Response(texts.join(''), { headers: { ...eventHeaders, ...headers } })
}

const jsonHeaders = { 'content-type': 'application/json' }
