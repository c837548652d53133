// A real HTTP server that speaks the OpenAI API with a scripted model, for tests and benchmarks: what it says is a pure
// function of the request, and it fails in every way an upstream can fail. Types: upstream-server.d.mts.
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { answersTo, modelsOf } from './upstream/answer.mjs'
import { cannedAnswers } from './upstream/canned.mjs'
import { faultNamed, misbehave } from './upstream/faults.mjs'
import { loraRequest } from './upstream/lora.mjs'
import { refusalOf } from './upstream/refusals.mjs'
import { errorBody, sendJson, sendStream, sleep } from './upstream/send.mjs'

/** @param {import('./upstream-server.d.mts').UpstreamOptions} [options] */
export async function startUpstream(options = {}) {
  const settings = { models: ['scripted'], record: true, chunkDelayMs: 0, delayMs: 0, tokensPerChunk: 1, ...options }
  const state = {
    settings,
    requests: [],
    loads: [],
    faults: [],
    answered: 0,
    abandoned: 0,
    connections: 0,
    sockets: new Set(),
  }
  const canned = settings.canned ? cannedAnswers(settings) : null
  const onRequest = (request, response) => {
    if (canned) canned(request, response)
    else void handle(state, request, response)
  }
  const server = settings.tls ? createTlsServer(settings.tls, onRequest) : createServer(onRequest)
  server.keepAliveTimeout = 30_000
  server.on(settings.tls ? 'secureConnection' : 'connection', (socket) => {
    state.connections += 1
    state.sockets.add(socket)
    socket.on('close', () => state.sockets.delete(socket))
    socket.on('error', () => {})
  })
  const listen = (port) =>
    new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, settings.host ?? '127.0.0.1', () => {
        server.off('error', reject)
        resolve(server.address().port)
      })
    })
  const port = await listen(settings.port ?? 0)
  const stop = () =>
    new Promise((resolve) => {
      server.close(() => resolve())
      for (const socket of state.sockets) socket.destroy()
    })

  return {
    port,
    url: `${settings.tls ? 'https' : 'http'}://${settings.host ?? '127.0.0.1'}:${port}/v1`,
    requests: state.requests,
    loads: state.loads,
    get answered() {
      return state.answered
    },
    get abandoned() {
      return state.abandoned
    },
    get connections() {
      return state.connections
    },
    get open() {
      return state.sockets.size
    },
    fail: (...faults) =>
      state.faults.push(...faults.map((fault) => (typeof fault === 'string' ? { kind: fault } : fault))),
    set: (changes) => Object.assign(settings, changes),
    goAway: stop,
    comeBack: async () => void (await listen(port)),
    close: async () => void (server.listening && (await stop())),
  }
}

/** A base URL at which nobody listens. */
export async function nobody() {
  const upstream = await startUpstream()
  await upstream.close()
  return upstream.url
}

async function handle(state, request, response) {
  const { settings } = state
  const [path] = (request.url ?? '').split('?')
  const received = { method: request.method, path, headers: request.headers, body: null, raw: '' }
  let over = false
  response.on('error', () => {})
  response.on('close', () => {
    over = true
    if (response.writableFinished) state.answered += 1
    else if (!response.broken) state.abandoned += 1
  })
  received.raw = await readAll(request)
  if (settings.record) state.requests.push(received)
  try {
    received.body = received.raw === '' ? null : JSON.parse(received.raw)
  } catch {
    return sendJson(response, 400, errorBody('We could not parse the JSON body of your request.'))
  }
  const isOver = () => over
  const fault = state.faults.shift() ?? faultNamed(received.body?.model)
  if (fault) return misbehave(fault, { settings, body: received.body, response, isOver })

  if (settings.apiKey !== undefined && request.headers.authorization !== `Bearer ${settings.apiKey}`) {
    return sendJson(response, 401, errorBody('Incorrect API key provided.', { code: 'invalid_api_key' }))
  }
  if (path === '/v1/models' && request.method === 'GET') return sendJson(response, 200, modelsOf(settings))
  if (path === '/v1/embeddings' && request.method === 'POST') {
    return sendJson(response, 200, embeddingsOf(received.body))
  }
  if (loraRequest(state, received, response)) return undefined
  if (path !== '/v1/chat/completions' || request.method !== 'POST') {
    return sendJson(response, 404, errorBody(`Invalid URL (${request.method} ${path})`))
  }
  const refusal = refusalOf(received.body, settings)
  if (refusal) return sendJson(response, refusal.status, refusal.body)
  if (settings.delayMs > 0) await sleep(settings.delayMs)
  const { completion, chunks } = answersTo(received.body, settings)
  if (received.body.stream !== true) return sendJson(response, 200, completion)
  await sendStream(response, chunks, { delayMs: settings.chunkDelayMs, isOver })
  return undefined
}

function readAll(request) {
  return new Promise((resolve) => {
    const pieces = []
    request.on('data', (piece) => pieces.push(piece))
    request.on('end', () => resolve(Buffer.concat(pieces).toString('utf8')))
    request.on('error', () => resolve(''))
  })
}

function embeddingsOf({ input, model }) {
  const texts = Array.isArray(input) ? input : [input]
  const data = texts.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: [String(text).length / 100, 0.5, -0.25],
  }))
  return { object: 'list', data, model, usage: { prompt_tokens: texts.length, total_tokens: texts.length } }
}
