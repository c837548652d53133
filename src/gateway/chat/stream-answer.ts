import type { ServerResponse } from 'node:http'
import { type ChatChunk, turns } from '../../core/index.ts'
import { type Call, shuttingDown } from '../http/calls.ts'
import { EventSink } from '../http/event-sink.ts'
import { problemOf } from '../http/problem.ts'
import { refusal } from '../http/refusals.ts'
import type { Log } from '../log.ts'
import type { Committed } from '../ports.ts'
import type { Alike } from './alike/index.ts'
import type { Exchange } from './exchange.ts'
import type { Wire, WireStream } from './wire.ts'

export const eventHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  // nginx would hold the events back.
  'x-accel-buffering': 'no',
}

/** The answer of an upstream that has begun to speak. */
export interface BegunStream {
  readonly first: ChatChunk
  readonly rest: AsyncIterator<ChatChunk>
}

/**
 * Waits for the first chunk: an upstream that fails before it fails the request, with a status of its own.
 * @throws UpstreamFailure; GatewayError 502 when nothing comes.
 */
export async function beginStream(chunks: AsyncIterable<ChatChunk>): Promise<BegunStream> {
  const rest = chunks[Symbol.asyncIterator]()
  const next = await rest.next()
  if (next.done !== true) return { first: next.value, rest }
  throw refusal('empty-answer', 'The upstream answered with nothing.', 'Try again, or look into the upstream.', {
    status: 502,
    type: 'upstream_error',
  })
}

/** What a chunk weighs beside its bytes. */
const workOfChunk = 1_000

interface Streaming {
  readonly stream: BegunStream
  readonly exchange: Exchange
  readonly wire: Wire
  readonly alike: Alike
  readonly call: Call
  readonly outgoing: ServerResponse | null
  readonly log: Log
  readonly patienceMs: number
  readonly headers: Readonly<Record<string, string>>
}

/** Sends an answer on as it comes; its end follows the commit. */
export function streamAnswer({
  stream,
  exchange,
  wire,
  alike,
  call,
  outgoing,
  log,
  patienceMs,
  headers,
}: Streaming): Response {
  const sink = new EventSink({
    outgoing,
    headers: { ...eventHeaders, ...headers },
    patienceMs,
    gaveUp: (why) => call.stop(why),
  })
  call.signal.addEventListener('abort', () => sink.wake(), { once: true })
  call.lastsUntil(
    tell({ stream, exchange, events: wire.stream(), alike, call, sink })
      .catch((error: unknown) => log.error({ err: error }, 'a stream failed in a way that the gateway does not expect'))
      .finally(() => sink.end()),
  )
  return sink.response
}

/** A stream that is being told. */
interface Telling extends Pick<Streaming, 'stream' | 'exchange' | 'alike' | 'call'> {
  readonly events: WireStream
  readonly sink: EventSink
}

async function tell(telling: Telling): Promise<void> {
  const { stream, exchange, events, alike, sink } = telling
  const texts = (chunks: readonly ChatChunk[]) => chunks.map((chunk) => events.chunk(chunk)).join('')
  const held: ChatChunk[] = []
  try {
    sink.write(events.open(alike.opening(stream.first)))
    await passOn(telling, held)
  } catch (error) {
    // All that was asked for has come: what broke after it is no part of the answer.
    if (!exchange.complete) {
      const problem = alike.problem(error, await exchange.fail(error))
      sink.write(`${texts(alike.flush())}${events.failed(problem)}`)
      return
    }
  }
  try {
    const committed = await exchange.succeed()
    const last = [...held.flatMap((chunk) => alike.chunks(chunk)), ...alike.rest()]
    await writeLast(sink, `${texts(last)}${comment(committed)}`, events.done())
  } catch (error) {
    sink.write(events.failed(problemOf(error)))
  }
}

/** What little there is goes out as one; what is much, piece by piece. */
async function writeLast(sink: EventSink, text: string, pieces: Iterable<string>): Promise<void> {
  let held = text
  for (const piece of pieces) {
    held += piece
    const next = turns.next(held.length)
    if (next === null) continue
    sink.write(held)
    held = ''
    await next
    await sink.room()
  }
  sink.write(held)
}

/** Sends each chunk on at once, up to the one with which the answer is whole: that one and what follows is held back. */
async function passOn(
  { stream: { first, rest }, exchange, events, alike, call, sink }: Telling,
  held: ChatChunk[],
): Promise<void> {
  try {
    let came: ChatChunk | null = first
    let work = 0
    while (came !== null) {
      const chunk = alike.taken.chunk(came)
      exchange.take(chunk)
      if (exchange.complete) {
        held.push(chunk)
      } else {
        for (const told of alike.chunks(chunk)) {
          const text = events.chunk(told)
          sink.write(text)
          work += text.length + workOfChunk
          // What an upstream sends at once is no reason to keep others waiting.
          const next = turns.next(work)
          if (next !== null) {
            work = 0
            await next
          }
          const room = sink.room()
          if (room !== null) await room
        }
      }
      if (call.stopped !== null) throw shuttingDown()
      const next: IteratorResult<ChatChunk> = await rest.next()
      came = next.done === true ? null : next.value
    }
  } finally {
    // Leaving early is what cancels the upstream's work.
    void rest.return?.().catch(() => {})
  }
}

/** Headers that say that an answer was not recorded, under `record: best-effort`. */
export function notRecorded(committed: Committed): Readonly<Record<string, string>> {
  return committed.recorded ? {} : { 'ratchet-recorded': `false; ${oneLine(committed.reason)}` }
}

/** The same in a stream, whose headers have gone: clients pass over comments. */
function comment(committed: Committed): string {
  return committed.recorded ? '' : `: ratchet-recorded: false; ${oneLine(committed.reason)}\n\n`
}

const oneLine = (text: string) => text.replaceAll(/[^\x20-\x7e]+/g, ' ').slice(0, 200)
