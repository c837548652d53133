import { afterEach, expect, it } from 'vitest'
import { startUpstream, type Upstream } from '../../../test/support/upstream-server.mjs'
import { callOf } from '../../../test/support/upstream/ask.ts'
import type { ChatUpstream } from '../../core/index.ts'
import { openAiUpstream } from './open-ai-upstream.ts'
import { renaming } from './renaming.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function start(names: Record<string, string>): Promise<{ server: Upstream; upstream: ChatUpstream }> {
  const server = await startUpstream({ models: ['qwen', 'llama'], anyModel: true })
  const upstream = renaming(openAiUpstream({ name: 'a', url: server.url }), names)
  open.push(upstream, server)
  return { server, upstream }
}

it('asks for the upstream’s name of a model; others go on unchanged', async () => {
  const { server, upstream } = await start({ 'gpt-4': 'qwen' })
  for (const model of ['gpt-4', 'llama', 'constructor', '__proto__']) await upstream.chat(callOf({ model }))
  for (const body of [{ model: 'gpt-4', input: 'x' }, { input: 'x' }]) await upstream.embeddings({ ...callOf(), body })
  const asked = server.requests.map(({ body }) => body?.model)
  expect(asked).toEqual(['qwen', 'llama', 'constructor', '__proto__', 'qwen', undefined])
})

it('changes nothing else of the request', async () => {
  const { server, upstream } = await start({ 'gpt-4': 'qwen' })
  await upstream.chat(callOf({ model: 'gpt-4', temperature: 0.5 }, { authorization: 'Bearer key' }))
  expect(server.requests[0]).toMatchObject({ body: { temperature: 0.5 }, headers: { authorization: 'Bearer key' } })
})

it('records the weights of the upstream’s model', async () => {
  const { upstream } = await start({ 'gpt-4': 'qwen' })
  expect(upstream.weights('gpt-4')).toEqual(upstream.weights('qwen'))
})

it('lists the client’s names beside the upstream’s, where there is such a model', async () => {
  const { upstream } = await start({ 'gpt-4': 'qwen', 'gpt-5': 'gone', llama: 'qwen' })
  expect((await upstream.models(callOf())).map(({ id }) => id)).toEqual(['gpt-4', 'llama', 'qwen'])
})

it('without names is the upstream itself', () => {
  const upstream = openAiUpstream({ name: 'a', url: 'http://127.0.0.1:1/v1' })
  open.push(upstream)
  expect(renaming(upstream, {})).toBe(upstream)
})
