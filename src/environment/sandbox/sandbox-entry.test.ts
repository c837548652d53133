import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { MessageChannel, Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { builtEntry } from '../../errors/index.ts'
import type { SandboxLine, SandboxRequest } from './outcome.ts'

/** A thread whose owner this test is. */
function thread() {
  const { port1: answers, port2 } = new MessageChannel()
  const bell = new Int32Array(new SharedArrayBuffer(4))
  const workerData: SandboxLine = { bell, answers: port2 }
  const worker = new Worker(builtEntry(import.meta.url, './sandbox-entry.js'), { workerData, transferList: [port2] })
  const heard = async () => (await once(worker, 'message'))[0] as unknown
  const answer = (value: unknown) => {
    answers.postMessage(JSON.stringify(value), [])
    Atomics.store(bell, 0, 1)
  }
  return { worker, heard, answer, wake: () => Atomics.notify(bell, 0) }
}

const request: SandboxRequest = {
  code: 'const both = () => [host("first"), host("second")]',
  call: { name: 'both', args: [] },
  steps: 1_000_000,
  memoryBytes: 33_554_432,
  host: true,
}

it('a wake-up that comes late for one answer is none for the next', async () => {
  const { worker, heard, answer, wake } = thread()
  try {
    const first = heard()
    worker.postMessage(request, [])
    expect(await first).toEqual({ kind: 'asks', json: '"first"' })
    const second = heard()
    answer('to the first')
    wake()
    expect(await second).toEqual({ kind: 'asks', json: '"second"' })
    const end = heard()
    for (let i = 0; i < 20; i++) {
      wake()
      await setTimeout(5)
    }
    answer('to the second')
    wake()
    expect(await end).toEqual({ kind: 'returned', json: '["to the first","to the second"]' })
  } finally {
    await worker.terminate()
  }
})
