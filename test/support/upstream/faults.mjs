// Every way in which an upstream fails.
import { answersTo } from './answer.mjs'
import { beginStream, errorBody, eventOf, sendJson, sendStream, sleep, write } from './send.mjs'

const megabytes = 50

/** `fault:KIND` as the model's name, or `fault:KIND:MILLISECONDS`. */
export function faultNamed(model) {
  const [, kind, ms] = /^fault:([\w-]+)(?::(\d+))?$/u.exec(typeof model === 'string' ? model : '') ?? []
  return kind === undefined ? null : { kind, ...(ms === undefined ? {} : { ms: Number(ms) }) }
}

/** @param {{ kind: string, ms?: number, status?: number, retryAfter?: string, after?: number, body?: object }} fault */
export async function misbehave(fault, context) {
  const act = acts[fault.kind]
  if (!act) return sendJson(context.response, 500, errorBody(`This server knows no fault "${fault.kind}".`))
  return act(fault, { ...context, stream: context.body?.stream === true })
}

const answer = ({ body, settings }) => answersTo({ messages: [], ...body, model: body?.model ?? 'none' }, settings)

/** The server's own doing, so that it does not count as the client's going away. */
const destroy = (response) => {
  response.broken = true
  response.socket?.destroy()
}

/** The first chunks of the answer. */
async function some(context, count) {
  beginStream(context.response)
  for (const chunk of answer(context).chunks.slice(0, count)) await write(context.response, eventOf(chunk))
}

const status =
  (code, message, type = 'server_error') =>
  (fault, { response }) => {
    const headers = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter }
    sendJson(response, fault.status ?? code, errorBody(message, { type }), headers)
  }

const acts = {
  /** Closes the connection before a byte of the answer. */
  reset: (_, { response }) => destroy(response),
  hang: () => {},
  'hang-after-headers': (_, { response, stream }) => {
    if (stream) return beginStream(response)
    response.writeHead(200, { 'content-type': 'application/json' })
    return response.flushHeaders()
  },
  'hang-midway': async ({ after = 3 }, context) => {
    if (context.stream) return some(context, after)
    context.response.writeHead(200, { 'content-type': 'application/json' })
    context.response.write('{"id":"x","choi')
    return undefined
  },
  /** Only comments, for ever; where JSON is awaited, only empty lines. DeepSeek does so while a request waits. */
  'keep-alives': async ({ ms = 5 }, { response, stream, isOver }) => {
    if (stream) beginStream(response)
    else response.writeHead(200, { 'content-type': 'application/json' })
    while (!isOver()) {
      await write(response, stream ? ': keep-alive\n\n' : '\n')
      await sleep(ms)
    }
  },
  'rate-limit': (fault, context) =>
    status(429, 'Rate limit reached.', 'rate_limit_error')({ retryAfter: '1', ...fault }, context),
  'server-error': status(500, 'The server had an error while processing your request.'),
  overloaded: status(503, 'The engine is currently overloaded, please try again later.'),
  refused: status(400, 'Your input does not please the server.', 'invalid_request_error'),
  unauthorized: status(401, 'Incorrect API key provided.', 'invalid_request_error'),
  'not-found': status(404, 'The model does not exist.', 'invalid_request_error'),
  /** An error that is no JSON, as proxies send. */
  'html-error': (fault, { response }) => {
    response.writeHead(fault.status ?? 502, { 'content-type': 'text/html' })
    response.end('<html><body><h1>502 Bad Gateway</h1></body></html>')
  },
  /** Closes the connection in the middle of an event, or of the JSON. */
  cut: async ({ after = 3 }, context) => {
    const { response } = context
    if (context.stream) {
      await some(context, after)
      await write(response, 'data: {"id":"chatcmpl-cut","object":"chat.completion.chunk","choi')
    } else {
      const text = JSON.stringify(answer(context).completion)
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      response.write(text.slice(0, text.length / 2))
    }
    await sleep(20)
    destroy(response)
  },
  /** Ends the stream properly, but the answer is not over. */
  'cut-clean': async ({ after = 3 }, context) => {
    await some(context, after)
    context.response.end()
  },
  'broken-json': async (_, context) => {
    if (!context.stream) {
      context.response.writeHead(200, { 'content-type': 'application/json' })
      return context.response.end('{"id":"x","object":"chat.completion","choices":[{"ind')
    }
    await some(context, 2)
    await write(context.response, 'data: {"id":"x","choices":[{"index":0,"delta":{"content":"ha\n\n')
    return context.response.end(eventOf('[DONE]'))
  },
  /** JSON of another shape. */
  'broken-shape': async (_, context) => {
    if (!context.stream) return sendJson(context.response, 200, { id: 7, choices: 'none' })
    await some(context, 2)
    await write(
      context.response,
      eventOf({ id: 'x', created: 1, model: 'm', choices: [{ index: 'zero', delta: 'ha' }] }),
    )
    return context.response.end(eventOf('[DONE]'))
  },
  'broken-sse': async (_, context) => {
    await some(context, 2)
    context.response.end('\u0000\u0001event without colon\nnonsense\n\ndata\ndata: not json\n\n')
  },
  'wrong-type': (_, { response }) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end('<html><body>Please log in to the hotel network.</body></html>')
  },
  /** A whole answer, or a stream of ordinary chunks, of 50 MB. */
  huge: async (_, context) => {
    const { response, isOver } = context
    const text = 'word '.repeat(13_107)
    if (!context.stream) {
      response.writeHead(200, { 'content-type': 'application/json' })
      await write(
        response,
        '{"id":"x","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"content":"',
      )
      for (let i = 0; i < megabytes * 16 && !isOver(); i += 1) await write(response, text)
      return response.end('"}}]}')
    }
    const chunk = { id: 'x', created: 1, model: 'm', object: 'chat.completion.chunk' }
    const event = eventOf({ ...chunk, choices: [{ index: 0, delta: { content: text }, finish_reason: null }] })
    beginStream(response)
    for (let i = 0; i < megabytes * 16 && !isOver(); i += 1) await write(response, event)
    return response.end(eventOf('[DONE]'))
  },
  /** One SSE line of 50 MB. */
  'huge-line': async (_, { response, isOver }) => {
    const text = 'word '.repeat(13_107)
    beginStream(response)
    await write(response, 'data: {"id":"x","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"')
    for (let i = 0; i < megabytes * 16 && !isOver(); i += 1) await write(response, text)
    response.end('"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
  },
  /** Answers, but later than anyone waits. */
  late: async ({ ms = 1_000 }, context) => {
    await sleep(ms)
    if (context.isOver()) return undefined
    const { completion, chunks } = answer(context)
    if (!context.stream) return sendJson(context.response, 200, completion)
    return sendStream(context.response, chunks, { isOver: context.isOver })
  },
  'error-first': ({ body = errorBody('The engine died.', { type: 'server_error' }) }, { response }) => {
    beginStream(response)
    response.end(`${eventOf(body)}${eventOf('[DONE]')}`)
  },
  'error-midway': async ({ after = 3 }, context) => {
    await some(context, after)
    const error = errorBody('The engine died in the middle.', { type: 'server_error' })
    context.response.end(`${eventOf(error)}${eventOf('[DONE]')}`)
  },
  /** As an SSE event named `error`. */
  'error-event': async ({ after = 3 }, context) => {
    await some(context, after)
    context.response.end(`event: error\ndata: ${JSON.stringify({ message: 'The engine fell over.' })}\n\n`)
  },
  'no-usage': (_, context) => {
    const { completion, chunks } = answersTo({ messages: [], ...context.body }, { ...context.settings, usage: false })
    if (!context.stream) return sendJson(context.response, 200, completion)
    return sendStream(context.response, chunks)
  },
  'no-choices': (_, context) => {
    if (!context.stream) return sendJson(context.response, 200, { ...answer(context).completion, choices: [] })
    return sendStream(
      context.response,
      answer(context)
        .chunks.slice(0, 1)
        .map((chunk) => ({ ...chunk, choices: [] })),
    )
  },
  /** Complete, but without `[DONE]`. */
  'no-done': (_, context) => sendStream(context.response, answer(context).chunks, { done: false }),
  empty: (_, { response, stream }) => {
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' })
    response.end()
  },
}

export const faultKinds = Object.keys(acts)
