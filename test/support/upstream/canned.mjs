// Answers whose bytes are made once, for load tests: the server costs as little as an HTTP server can.
import { answersTo } from './answer.mjs'
import { eventOf, write } from './send.mjs'

export function cannedAnswers(settings) {
  const { text = 'word '.repeat(32).trim() } = typeof settings.canned === 'object' ? settings.canned : {}
  const answer = (body) =>
    answersTo(
      { model: settings.models[0], messages: [{ role: 'user', content: 'hi' }], ...body },
      { ...settings, say: () => text },
    )
  const made = new Map()
  for (const tells of [false, true]) {
    const asked = tells ? { return_token_ids: true, logprobs: true } : {}
    made.set(`whole ${tells}`, Buffer.from(JSON.stringify(answer(asked).completion)))
    const { chunks } = answer({ ...asked, stream: true, stream_options: { include_usage: true } })
    made.set(
      `stream ${tells}`,
      [...chunks.map(eventOf), eventOf('[DONE]')].map((event) => Buffer.from(event)),
    )
  }
  return (request, response) => {
    let asked = ''
    request.setEncoding('latin1')
    request.on('data', (piece) => {
      asked += piece
    })
    request.on('end', () => {
      const tells = settings.tellsTokens === true && asked.includes('"return_token_ids":true')
      if (asked.includes('"stream":true')) void stream(response, made.get(`stream ${tells}`), settings.chunkDelayMs)
      else whole(response, made.get(`whole ${tells}`))
    })
  }
}

function whole(response, bytes) {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length })
  response.end(bytes)
}

async function stream(response, events, delayMs) {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  for (const event of events) {
    if (response.destroyed) return
    await write(response, event)
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
  }
  response.end()
}
