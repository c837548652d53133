import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FaultKind, nobody, startUpstream, type Upstream } from '../../../test/support/upstream-server.mjs'
import { callOf, chunksOf, failureOf, textOf, until } from '../../../test/support/upstream/ask.ts'
import type { ChatUpstream } from '../../core/index.ts'
import { RatchetError } from '../../errors/index.ts'
import { openAiUpstream } from './open-ai-upstream.ts'

let server: Upstream
let upstream: ChatUpstream
/** The same, but it waits for nothing. */
let hasty: ChatUpstream

beforeAll(async () => {
  server = await startUpstream({ record: false })
  const options = {
    name: 'scripted-server',
    url: server.url,
    tellsTokens: 'no',
    maxAnswerBytes: 4 * 1024 * 1024,
  } as const
  upstream = openAiUpstream(options)
  hasty = openAiUpstream({ ...options, firstByteTimeoutMs: 200, idleTimeoutMs: 200 })
})
afterAll(async () => {
  await upstream.close()
  await hasty.close()
  await server.close()
})

/** What a fault does to a whole answer, and to a stream: how much of it came, and how it failed. */
async function suffer(fault: FaultKind, stream: boolean): Promise<{ chunks: number; failure: unknown }> {
  try {
    const one = /hang|keep-alives|late/.test(fault) ? hasty : upstream
    const reply = await one.chat(callOf({ model: `fault:${fault}`, stream }))
    if (reply.kind === 'whole') return { chunks: 0, failure: null }
    const { chunks, failure } = await chunksOf(reply)
    return { chunks: chunks.length, failure }
  } catch (failure) {
    return { chunks: 0, failure }
  }
}

const timeout = { kind: 'timeout', status: null }
const unreachable = { kind: 'unreachable', status: null }
const cut = { kind: 'broken', code: 'model/upstream-cut', status: null }
const malformed = { kind: 'broken', code: 'model/upstream-malformed', status: null }
const tooLarge = { kind: 'broken', code: 'model/upstream-too-large', status: null }

describe.each([
  ['reset', unreachable],
  ['hang', timeout],
  ['hang-after-headers', timeout],
  ['keep-alives', timeout],
  ['late', timeout],
  ['rate-limit', { kind: 'busy', status: 429, retryAfterSeconds: 1 }],
  ['overloaded', { kind: 'busy', status: 503, retryAfterSeconds: null }],
  ['server-error', { kind: 'broken', status: 500 }],
  ['html-error', { kind: 'broken', status: 502, body: null }],
  ['refused', { kind: 'refused', status: 400, message: expect.stringContaining('does not please the server') }],
  ['unauthorized', { kind: 'refused', status: 401 }],
  ['not-found', { kind: 'refused', status: 404 }],
  ['wrong-type', malformed],
] as const)('%s', (fault, expected) => {
  it.each([false, true])('before anything of the answer (stream: %s)', async (stream) => {
    expect(await suffer(fault, stream)).toMatchObject({ chunks: 0, failure: expected })
  })
})

describe('a whole answer', () => {
  it.each([
    ['hang-midway', timeout],
    ['cut', cut],
    ['broken-json', malformed],
    ['broken-shape', malformed],
    ['huge', tooLarge],
    ['empty', malformed],
    ['no-choices', malformed],
    // It sends a stream where none was asked for.
    ['no-done', malformed],
  ] as const)('%s', async (fault, expected) => {
    expect(await suffer(fault, false)).toMatchObject({ failure: expected })
  })

  it('that says how large it is is refused before it is read', async () => {
    const large = await startUpstream({ say: () => 'word '.repeat(1_000) })
    const small = openAiUpstream({ name: 'small', url: large.url, maxAnswerBytes: 4_096 })
    expect(await failureOf(small.chat(callOf()))).toMatchObject(tooLarge)
    await small.close()
    await large.close()
  })

  it('without usage is an answer', async () => {
    expect(await suffer('no-usage', false)).toEqual({ chunks: 0, failure: null })
  })
})

describe('a stream', () => {
  it.each([
    ['hang-midway', 3, timeout],
    ['cut', 3, cut],
    ['cut-clean', 3, cut],
    ['broken-json', 2, malformed],
    ['broken-shape', 2, malformed],
    ['broken-sse', 2, malformed],
    ['error-midway', 3, { kind: 'broken', message: expect.stringContaining('died in the middle') }],
    ['error-event', 3, { kind: 'broken', message: expect.stringContaining('fell over') }],
    ['error-first', 0, { kind: 'broken', body: { error: { message: 'The engine died.' } } }],
    ['huge-line', 0, tooLarge],
    ['no-choices', 1, malformed],
    ['empty', 0, cut],
  ] as const)('%s: what came before is handed over', async (fault, chunks, expected) => {
    expect(await suffer(fault, true)).toMatchObject({ chunks, failure: expected })
  })

  it('of 50 MB is cut at its limit', async () => {
    const { chunks, failure } = await suffer('huge', true)
    expect(failure).toMatchObject(tooLarge)
    expect(chunks).toBeGreaterThan(30)
    expect(chunks).toBeLessThan(80)
  })

  it.each(['no-done', 'no-usage'] as const)('%s is complete', async (fault) => {
    expect(await suffer(fault, true)).toMatchObject({ failure: null, chunks: expect.any(Number) })
    expect(await textOf(upstream, callOf({ model: `fault:${fault}`, stream: true }))).toBe('You said: hello there')
  })

  it('in which one of two choices did not end was cut', async () => {
    const two = callOf({ model: 'fault:no-done', stream: true, n: 2 })
    expect(await textOf(upstream, two)).toBe('You said: hello there')
    // Two openings, two words, and the end of the first choice.
    server.fail({ kind: 'cut-clean', after: 5 })
    const short = callOf({ stream: true, n: 2, max_tokens: 1 })
    expect((await chunksOf(await upstream.chat(short))).failure).toMatchObject(cut)
  })
})

describe('one 50 MB line', () => {
  it('is given up long before it is read, and is not kept', async () => {
    const roomy = openAiUpstream({ name: 'roomy', url: server.url, tellsTokens: 'no', maxAnswerBytes: 1e9 })
    const before = process.memoryUsage().rss
    expect(await failureOf(roomy.chat(callOf({ model: 'fault:huge-line', stream: true })))).toMatchObject(tooLarge)
    // The server is this process too: it holds one piece of the line at a time.
    expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(80)
    await roomy.close()
  })
})

describe('an upstream', () => {
  it('that is not there is unreachable, and says how', async () => {
    const gone = openAiUpstream({ name: 'gone', url: await nobody() })
    const failure = await failureOf(gone.chat(callOf({}, { authorization: 'Bearer sk-secret' })))
    expect(failure).toMatchObject({
      kind: 'unreachable',
      upstream: 'gone',
      message: expect.stringContaining('ECONNREFUSED'),
    })
    expect(RatchetError.is(failure)).toBe(true)
    await gone.close()
  })

  it('that comes back is reached again', async () => {
    const flaky = await startUpstream()
    const reached = openAiUpstream({ name: 'flaky', url: flaky.url })
    expect(await textOf(reached)).not.toBe('')
    await flaky.goAway()
    expect(await failureOf(reached.chat(callOf()))).toMatchObject({ kind: 'unreachable' })
    await flaky.comeBack()
    expect(await textOf(reached)).not.toBe('')
    await reached.close()
    await flaky.close()
  })

  it('that answers an error with status 200 has failed, with the status that it names', async () => {
    const odd = await startUpstream({
      refuse: () => ({ status: 200, body: { error: { message: 'no credit', code: 402 } } }),
    })
    const asked = openAiUpstream({ name: 'odd', url: odd.url })
    for (const stream of [false, true]) {
      const failure = await failureOf(asked.chat(callOf({ stream })))
      expect(failure).toMatchObject({ kind: 'refused', status: 402, body: { error: { message: 'no credit' } } })
    }
    await asked.close()
    await odd.close()
  })

  it('that redirects is not followed: the key is for it alone', async () => {
    const moved = await startUpstream({ refuse: () => ({ status: 307, body: {} }) })
    const asked = openAiUpstream({ name: 'moved', url: moved.url })
    expect(await failureOf(asked.chat(callOf()))).toMatchObject({
      kind: 'broken',
      status: 307,
      hint: expect.stringContaining('redirects are not followed'),
    })
    expect(moved.requests).toHaveLength(1)
    await asked.close()
    await moved.close()
  })

  it.each([
    ['SSH-2.0-OpenSSH_9.2\r\n', 'not HTTP'],
    [`HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(100_000)}`, 'not HTTP'],
    ['HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}', 'cut off'],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}', 'cut off'],
    ['', 'cannot be reached'],
  ])('that says %j is broken', async (bytes, message) => {
    const raw = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(bytes))
    })
    await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve))
    const asked = openAiUpstream({ name: 'raw', url: `http://127.0.0.1:${(raw.address() as AddressInfo).port}/v1` })
    expect(await failureOf(asked.chat(callOf()))).toMatchObject({ message: expect.stringContaining(message) })
    await asked.close()
    raw.close()
  })

  it('that goes on after [DONE] is not listened to for long', async () => {
    const end = `data: ${JSON.stringify(over)}\n\ndata: [DONE]\n\n`
    let closed = false
    const raw = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${end.length.toString(16)}\r\n${end}\r\n`)
        const dripping = setInterval(() => socket.write('2\r\n:\n\r\n'), 50)
        socket.on('close', () => {
          clearInterval(dripping)
          closed = true
        })
      })
    })
    await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve))
    const asked = openAiUpstream({ name: 'raw', url: `http://127.0.0.1:${(raw.address() as AddressInfo).port}/v1` })
    expect(await chunksOf(await asked.chat(callOf({ stream: true })))).toEqual({ chunks: [over], failure: null })
    expect(closed).toBe(false)
    await until(() => closed)
    await asked.close()
    raw.close()
  })

  it('whose error is larger than errors are has its status at least', async () => {
    const body = { error: { message: 'x'.repeat(1_000_000) } }
    const wordy = await startUpstream({ refuse: () => ({ status: 422, body }) })
    const asked = openAiUpstream({ name: 'wordy', url: wordy.url })
    expect(await failureOf(asked.chat(callOf()))).toMatchObject({ kind: 'refused', status: 422, body: null })
    await asked.close()
    await wordy.close()
  })

  it('whose answer is nested without end is broken, and nobody’s stack overflows', async () => {
    const deep = await startUpstream({ refuse: () => ({ status: 200, body: nested(2_000) }) })
    const asked = openAiUpstream({ name: 'deep', url: deep.url })
    expect(await failureOf(asked.chat(callOf()))).toMatchObject(malformed)
    await asked.close()
    await deep.close()
  })
})

const over = {
  id: 'x',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content: 'over' }, finish_reason: 'stop' }],
}

const nested = (levels: number): unknown => (levels === 0 ? 1 : { padding: 'padding', nested: nested(levels - 1) })
