import { afterEach, beforeEach, expect, it } from 'vitest'
import { startUpstream, type Upstream } from '../../../test/support/upstream-server.mjs'
import type { ChatUpstream } from '../../core/index.ts'
import { openAiUpstream } from '../openai/index.ts'
import { chatModel } from './chat-model.ts'

let server: Upstream
let upstream: ChatUpstream
beforeEach(async () => {
  server = await startUpstream()
  upstream = openAiUpstream({ name: 'writer', url: server.url })
})
afterEach(async () => {
  await upstream.close()
  await server.close()
})

it('asks a real server: instructions and material each in their place', async () => {
  const writer = chatModel({ upstream, model: 'scripted', temperature: 0 })
  const { text, whole } = await writer.ask({ instructions: 'Write.', material: '{"a":1}', maxTokens: 400 })
  expect(whole).toBe(true)
  expect(text).not.toBe('')
  expect(server.requests.at(-1)?.body).toMatchObject({
    messages: [
      { role: 'system', content: 'Write.' },
      { role: 'user', content: '{"a":1}' },
    ],
    max_completion_tokens: 400,
    temperature: 0,
  })
})

it('says that an answer was cut off', async () => {
  const writer = chatModel({ upstream, model: 'scripted' })
  expect(await writer.ask({ instructions: 'Write.', material: 'x', maxTokens: 1 })).toMatchObject({ whole: false })
})

it('fails as the upstream does', async () => {
  const writer = chatModel({ upstream, model: 'unknown' })
  await expect(writer.ask({ instructions: 'Write.', material: 'x', maxTokens: 9 })).rejects.toMatchObject({
    code: expect.stringContaining('upstream'),
  })
})
