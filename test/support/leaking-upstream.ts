import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the upstream says in the fields of its answers. */
export interface Leaks {
  readonly id: string
  readonly model: string
  readonly content: string
  readonly reasoning: string
  readonly refusal: string
  readonly callId: string
  readonly callName: string
  readonly callArguments: string
  readonly fingerprint: string
  readonly errorCode: string
  readonly errorMessage: string
}

/**
 * An upstream that says something of its own in every field of an answer: whole, in pieces, and of a failure. A request
 * whose last message says `hold` is streamed until {@link release} is called; one that says `fail` fails.
 */
export async function leakingUpstream(leaks: Leaks) {
  let release = () => {}
  let held = 0
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    for await (const part of request) body += String(part)
    const asked = body === '' ? {} : (JSON.parse(body) as { stream?: boolean; messages?: { content?: unknown }[] })
    const json = (status: number, value: object) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(value))
    }
    if (request.url?.endsWith('/models')) return json(200, { object: 'list', data: [] })
    if (request.url?.endsWith('/embeddings')) {
      return json(200, {
        object: 'list',
        model: leaks.model,
        data: [{ object: 'embedding', index: 0, embedding: [1] }],
      })
    }
    const last = JSON.stringify(asked.messages?.at(-1)?.content ?? '')
    if (last.includes('fail')) {
      return json(400, { error: { message: leaks.errorMessage, code: leaks.errorCode, type: 'invalid_request_error' } })
    }
    const calls = [
      { id: leaks.callId, type: 'function', function: { name: leaks.callName, arguments: leaks.callArguments } },
    ]
    const head = { id: leaks.id, created: 1, model: leaks.model, system_fingerprint: leaks.fingerprint }
    const said = { content: leaks.content, reasoning_content: leaks.reasoning, refusal: leaks.refusal }
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    if (asked.stream !== true) {
      const message = { role: 'assistant', ...said, tool_calls: calls }
      const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
      return json(200, { ...head, object: 'chat.completion', choices, usage })
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (delta: object, finish: string | null = null) =>
      response.write(
        `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
      )
    send({ role: 'assistant', ...said })
    if (last.includes('hold')) {
      for (const word of `${leaks.content} `.repeat(20).split(' ')) send({ content: `${word} ` })
      held += 1
      await new Promise<void>((resolve) => {
        release = resolve
        response.on('close', resolve)
      })
    }
    send({ tool_calls: calls.map((call, index) => ({ index, ...call })) })
    send({}, 'tool_calls')
    response.end('data: [DONE]\n\n')
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    /** Streams that were held so far. */
    get held() {
      return held
    },
    release: () => release(),
    close: () =>
      new Promise<void>((resolve) => {
        release()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export type LeakingUpstream = Awaited<ReturnType<typeof leakingUpstream>>
