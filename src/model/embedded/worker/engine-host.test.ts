import { expect, it, vi } from 'vitest'
import { recorded, recordedModel } from '../../../../test/support/recorded.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { PassSessions } from '../train/pass-sessions.ts'
import { EngineHost } from './engine-host.ts'
import type { FromWorker } from './protocol.ts'

const { config } = recorded('llama') as { config: TransformerConfig }
const model = recordedModel(config)

const job = {
  id: 1,
  prompt: Int32Array.of(1, 2),
  adapter: null,
  maxTokens: 3,
  temperature: 1,
  topK: Number.POSITIVE_INFINITY,
  topP: 1,
  stopTokens: [],
  seed: 1,
  firstDraw: 0,
  streamed: false,
}

const open = () => {
  const messages: FromWorker[] = []
  const host = new EngineHost((message) => messages.push(message))
  const options = { model, contextLength: 64, threads: 1, deterministic: false, cacheBytes: 2 ** 20 }
  host.receive({ kind: 'request', number: 1, request: { kind: 'open', options } })
  const kinds = () => messages.map(({ kind }) => kind)
  return {
    host,
    messages,
    kinds,
    close: () => host.receive({ kind: 'request', number: 2, request: { kind: 'close' } }),
  }
}

it('a job that cannot start fails alone, and the worker goes on', async () => {
  const { host, messages, kinds, close } = open()
  host.receive({ kind: 'sample', jobs: [{ ...job, id: 7, adapter: 'never loaded' }, job] })
  await expect.poll(kinds).toEqual(['done', 'jobs-failed', 'sampled'])
  expect(messages[1]).toMatchObject({
    jobs: [7],
    error: { message: expect.stringContaining('never loaded') as string },
  })
  expect(messages[2]).toMatchObject({ results: [{ id: 1, stopReason: 'length' }] })
  close()
  await expect.poll(() => messages.length).toBe(4)
})

it('sends one message for each run that added to streamed jobs, however many they are', async () => {
  const { host, messages, kinds, close } = open()
  // Prompts of one token need no run of their own: all three start together.
  const jobs = [1, 2, 3].map((id) => ({ ...job, id, prompt: Int32Array.of(id), streamed: id < 3 }))
  host.receive({ kind: 'sample', jobs })
  await expect.poll(kinds).toEqual(['done', 'news', 'news', 'sampled'])
  for (const message of messages.slice(1, 3)) expect(message).toMatchObject({ tokens: [{ job: 1 }, { job: 2 }] })
  close()
})

it('runs nothing more once it closes, and says nothing of the jobs that were under way', async () => {
  const { host, kinds, close } = open()
  host.receive({ kind: 'sample', jobs: [{ ...job, maxTokens: 60, streamed: true }] })
  await expect.poll(() => kinds().includes('news')).toBe(true)
  close()
  await expect.poll(() => kinds().filter((kind) => kind === 'done').length).toBe(2)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(kinds().at(-1)).toBe('done')
  expect(kinds()).not.toContain('jobs-failed')
})

it('gives the memory of training back before it samples with an adapter', async () => {
  const given = vi.spyOn(PassSessions.prototype, 'giveBackMemory')
  const { host, kinds, close } = open()
  await expect.poll(kinds).toEqual(['done'])
  expect(given).not.toHaveBeenCalled()
  const content = { kind: 'prompt', prompt: { length: 1, values: new Float32Array(config.hiddenSize) } } as const
  host.receive({ kind: 'request', number: 3, request: { kind: 'load-adapter', id: 'one', content } })
  await expect.poll(kinds).toEqual(['done', 'done'])
  expect(given).toHaveBeenCalledTimes(1)
  given.mockRestore()
  close()
})
