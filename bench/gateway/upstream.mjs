// The upstream, in a process of its own: the same answer to everyone, its bytes made once, and when it took each request and
// sent each answer, so that its own time can be told from the gateway's. Told what to be in the first argument, as JSON.
import { createServer } from 'node:http'
import { answersTo } from '../../test/support/upstream/answer.mjs'
import { eventOf } from '../../test/support/upstream/send.mjs'
import { now } from './clock.mjs'

/**
 * `text`: what is said. `delayMs`: before the answer begins. `chunkMs`: between two chunks of a stream. `tells`: token ids and
 * log-probabilities to who asks for them.
 */
const { text, delayMs, chunkMs, tells } = JSON.parse(process.argv[2])

/** Times of the latest requests, by their number: taken, answer begun, answer ended. */
const kept = 1 << 20
const times = { taken: new Float64Array(kept), begun: new Float64Array(kept), ended: new Float64Array(kept) }

const answer = (asked) =>
  answersTo(
    { model: 'canned', messages: [{ role: 'user', content: 'hi' }], ...asked },
    { models: ['canned'], tokensPerChunk: 1, tellsTokens: true, say: () => text },
  )
const made = new Map(
  [false, true].map((tokens) => {
    const asked = tokens ? { return_token_ids: true, logprobs: true } : {}
    const events = (more) =>
      answer({ ...asked, stream: true, ...more }).chunks.map((chunk) => Buffer.from(eventOf(chunk)))
    return [
      tokens,
      {
        whole: Buffer.from(JSON.stringify(answer(asked).completion)),
        events: events({}),
        withUsage: events({ stream_options: { include_usage: true } }),
      },
    ]
  }),
)
const done = Buffer.from(eventOf('[DONE]'))

const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('latin1')
  request.on('data', (piece) => {
    body += piece
  })
  request.on('end', () => {
    const slot = numberIn(body) % kept
    times.taken[slot] = now()
    const canned = made.get(tells && body.includes('"return_token_ids":true'))
    const send = body.includes('"stream":true')
      ? () => stream(response, body.includes('"include_usage":true') ? canned.withUsage : canned.events, slot)
      : () => whole(response, canned.whole, slot)
    if (delayMs > 0) setTimeout(send, delayMs)
    else send()
  })
})
server.keepAliveTimeout = 60_000

function numberIn(body) {
  const at = body.lastIndexOf('"seed":')
  return at < 0 ? 0 : Number.parseInt(body.slice(at + 7, at + 20), 10) || 0
}

function whole(response, bytes, slot) {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length })
  times.begun[slot] = now()
  response.end(bytes)
  times.ended[slot] = now()
}

function stream(response, events, slot) {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  times.begun[slot] = now()
  let at = 0
  const next = () => {
    if (response.destroyed) return
    const until = chunkMs > 0 ? at + 1 : events.length
    while (at < until) response.write(events[at++])
    if (at < events.length) {
      setTimeout(next, chunkMs)
      return
    }
    times.ended[slot] = now()
    response.end(done)
  }
  next()
}

/** Asked for the times of requests, by their numbers. */
process.on('message', (numbers) => {
  const pick = (all) => Float64Array.from(numbers, (number) => all[number % kept])
  process.send({ taken: pick(times.taken), begun: pick(times.begun), ended: pick(times.ended) })
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
