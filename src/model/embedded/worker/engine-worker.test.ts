import { describe, expect, it } from 'vitest'
import { EngineWorker } from './engine-worker.ts'

const job = {
  id: 1,
  prompt: Int32Array.of(1),
  adapter: null,
  maxTokens: 1,
  temperature: 1,
  topK: Number.POSITIVE_INFINITY,
  topP: 1,
  stopTokens: [],
  seed: 1,
  firstDraw: 0,
  streamed: false,
}

describe('a worker that crashes', () => {
  it('rejects everything that waits for it, and everything after, with a typed error', async () => {
    const worker = new EngineWorker()
    // A worker without a model cannot sample: its code throws where nobody catches.
    const waiting = [worker.sample(job), worker.sample({ ...job, id: 2 })]
    for (const outcome of await Promise.allSettled(waiting)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'model/worker-crashed' } })
    }
    await expect(worker.request({ kind: 'unload-adapter', id: 'a' })).rejects.toMatchObject({
      code: 'model/worker-crashed',
    })
    await expect(worker.close()).resolves.toBeUndefined()
  })

  it('answers a request that fails with the error, and goes on', async () => {
    const worker = new EngineWorker()
    await expect(worker.request({ kind: 'unload-adapter', id: 'a' })).rejects.toMatchObject({ code: 'core/invariant' })
    await expect(worker.request({ kind: 'close' })).resolves.toBeUndefined()
    await worker.close()
  })
})
