import { expect, it } from 'vitest'
import { recorded, recordedModel } from '../../../../test/support/recorded.ts'
import type { LlamaConfig } from '../llama/config.ts'
import { EngineHost } from './engine-host.ts'
import type { FromWorker } from './protocol.ts'

const { config } = recorded('llama') as { config: LlamaConfig }
const model = recordedModel(config)

it('a job that cannot start fails alone, and the worker goes on', async () => {
  const messages: FromWorker[] = []
  const host = new EngineHost((message) => messages.push(message))
  const options = { model, contextLength: 64, threads: 1, deterministic: false, cacheBytes: 2 ** 20 }
  host.receive({ kind: 'request', number: 1, request: { kind: 'open', options } })
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
  }
  host.receive({ kind: 'sample', jobs: [{ ...job, id: 7, adapter: 'never loaded' }, job] })
  await expect.poll(() => messages.map(({ kind }) => kind)).toEqual(['done', 'jobs-failed', 'sampled'])
  expect(messages[1]).toMatchObject({
    jobs: [7],
    error: { message: expect.stringContaining('never loaded') as string },
  })
  expect(messages[2]).toMatchObject({ results: [{ id: 1, stopReason: 'length' }] })
  host.receive({ kind: 'request', number: 2, request: { kind: 'close' } })
  await expect.poll(() => messages.length).toBe(4)
})
