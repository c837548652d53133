import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A message as a model's server gets it. */
export interface AskedMessage {
  readonly role: string
  readonly name?: string
  readonly content: string
}

/** A model elsewhere, behind the OpenAI API. */
export interface AnsweringModel {
  /** `/v1` included. */
  readonly url: string
  close(): void
}

/** Starts a model that says what `answer` says, whatever else it is asked for. */
export async function startAnsweringModel(
  answer: (messages: readonly AskedMessage[]) => string,
): Promise<AnsweringModel> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      const { messages } = JSON.parse(body) as { readonly messages: readonly AskedMessage[] }
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          id: 'c',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: answer(messages) }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
        }),
      )
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, close: () => server.close() }
}
