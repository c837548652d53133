// How an answer goes out.

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** The OpenAI API's error shape. */
export const errorBody = (message, { type = 'invalid_request_error', param = null, code = null } = {}) => ({
  error: { message, type, param, code },
})

export function sendJson(response, status, body, headers = {}) {
  const bytes = Buffer.from(JSON.stringify(body))
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length, ...headers })
  response.end(bytes)
}

export const eventOf = (value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`

export function beginStream(response, headers = {}) {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    ...headers,
  })
  response.flushHeaders()
}

/** Writes, and waits for the reader where the socket is full. */
export function write(response, text) {
  if (response.write(text)) return undefined
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.on('drain', done)
    response.on('close', done)
  })
}

export async function sendStream(response, chunks, { delayMs = 0, isOver = () => false, done = true } = {}) {
  beginStream(response)
  for (const chunk of chunks) {
    if (isOver()) return
    await write(response, eventOf(chunk))
    if (delayMs > 0) await sleep(delayMs)
  }
  if (isOver()) return
  response.end(done ? eventOf('[DONE]') : undefined)
}
