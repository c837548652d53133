import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { callOf, chunksOf } from '../../../test/support/upstream/ask.ts'
import { openAiUpstream } from './open-ai-upstream.ts'

/** A server on a thread of its own, which goes on while this one stands still. Its answer is one chunk, and soon the rest. */
const server = `
  const { parentPort } = require('node:worker_threads')
  const chunk = (delta, finish_reason = null) =>
    'data: ' + JSON.stringify({ id: 'one', model: 'm', choices: [{ index: 0, delta, finish_reason }] }) + '\\n\\n'
  require('node:http').createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chunk({ role: 'assistant', content: 'first' }))
    setTimeout(() => response.end(chunk({ content: ' and last' }) + chunk({}, 'stop') + 'data: [DONE]\\n\\n'), 60)
  }).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port) })
`

it('a process that stood still for longer than an upstream may be silent reads what came meanwhile', async () => {
  const worker = new Worker(server, { eval: true })
  const [port] = await once(worker, 'message')
  const upstream = openAiUpstream({
    name: 'thread',
    url: `http://127.0.0.1:${port}`,
    tellsTokens: 'no',
    idleTimeoutMs: 150,
  })
  try {
    const reply = await upstream.chat(callOf({ stream: true }))
    if (reply.kind !== 'stream') throw new Error('a stream was asked for')
    const read = chunksOf(reply)
    await new Promise((resolve) => setTimeout(resolve, 20))
    // What comes next in the event loop are its timers.
    await new Promise(setImmediate)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
    const { chunks, failure } = await read
    expect(failure).toBeNull()
    expect(JSON.stringify(chunks)).toContain('and last')
  } finally {
    await upstream.close()
    await worker.terminate()
  }
})
