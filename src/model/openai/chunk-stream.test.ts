import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChatChunk } from '../../core/index.ts'
import { ChunkStream } from './chunk-stream.ts'
import type { BodyReader, Incoming } from '../http/exchange.ts'
import { cut } from '../http/failures.ts'

/** An answer's body that the test sends. */
function body(): { incoming: Incoming; reader: () => BodyReader; told: string[] } {
  let reader: BodyReader | null = null
  const told: string[] = []
  const tell = (what: string) => () => void told.push(what)
  return {
    told,
    reader: () => reader as BodyReader,
    incoming: {
      status: 200,
      headers: {},
      read: (given) => void (reader = given),
      begun: () => {},
      pause: tell('pause'),
      resume: tell('resume'),
      cancel: tell('cancel'),
      drain: tell('drain'),
    },
  }
}

const options = { upstream: 'a', model: 'asked', choices: 1, failureIn: () => null, complete: () => {} }

const chunkOf = (content: string, finish: string | null = null): ChatChunk => ({
  id: 'x',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content }, finish_reason: finish }],
})

async function read(stream: ChunkStream): Promise<{ chunks: ChatChunk[]; failure: unknown }> {
  const chunks: ChatChunk[] = []
  try {
    for await (const chunk of stream) chunks.push(chunk)
  } catch (failure) {
    return { chunks, failure }
  }
  return { chunks, failure: null }
}

/** Where bytes are cut into pieces. */
const cuts = fc.array(fc.nat(), { maxLength: 12 })

function send(reader: BodyReader, bytes: Buffer, at: readonly number[]): void {
  const places = [...new Set([0, ...at.map((n) => n % (bytes.length + 1)), bytes.length])].toSorted((a, b) => a - b)
  for (let i = 1; i < places.length; i++) reader.data(bytes.subarray(places[i - 1], places[i]))
}

const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 8 }), { minLength: 1, maxLength: 8 })
const noise = fc.constantFrom(
  '',
  ': comment\n\n',
  ':\n',
  'retry: 5\n\n',
  'event: ping\ndata: {}\n\n',
  'nonsense\n\n',
  '\n\n',
)

describe('a stream', () => {
  it('is the same wherever its bytes are cut, with every kind of line end and of noise', async () => {
    const ends = fc.constantFrom('\n', '\r\n', '\r')
    await fc.assert(
      fc.asyncProperty(texts, cuts, ends, noise, fc.boolean(), async (said, at, end, between, says) => {
        const chunks = [...said.map((text) => chunkOf(text)), chunkOf('', 'stop')]
        const events = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n${between}`)
        const text = `${events.join('')}${says ? 'data: [DONE]\n\n' : ''}`.replaceAll('\n', end)
        const { incoming, reader } = body()
        const stream = new ChunkStream(incoming, options)
        const got = read(stream)
        send(reader(), Buffer.from(text), at)
        reader().end()
        expect(await got).toEqual({ chunks, failure: null })
      }),
    )
  })

  it('cut at any byte hands over what is whole, and says that it was cut', async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.nat(), fc.boolean(), async (said, place, cleanly) => {
        const chunks = [...said.map((text) => chunkOf(text)), chunkOf('', 'stop')]
        const events = chunks.map((chunk) => Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`))
        const bytes = Buffer.concat(events)
        // The last event may lack its empty line, but nothing more.
        const end = place % (bytes.length - 2)
        const { incoming, reader } = body()
        const stream = new ChunkStream(incoming, options)
        reader().data(bytes.subarray(0, end))
        if (cleanly) reader().end()
        else reader().fail(cut('a'))
        const got = await read(stream)
        expect(got.failure).toMatchObject({ kind: 'broken', code: 'model/upstream-cut' })
        expect(got.chunks).toEqual(chunks.slice(0, got.chunks.length))
        let whole = 0
        for (let length = 0; (length += events[whole]?.length ?? Number.POSITIVE_INFINITY) <= end; ) whole++
        expect(got.chunks.length).toBeGreaterThanOrEqual(whole)
      }),
    )
  })

  it('of arbitrary bytes ends in chunks or in a failure, never otherwise', async () => {
    const garbage = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc
        .array(
          fc.constantFrom('data:', ' ', '{', '"', 'choices', '[]', '}', '\n', '\r', 'event: error', '[DONE]', 'null'),
        )
        .map((parts) => Buffer.from(parts.join(''))),
    )
    await fc.assert(
      fc.asyncProperty(garbage, cuts, async (bytes, at) => {
        const { incoming, reader } = body()
        const stream = new ChunkStream(incoming, options)
        send(reader(), bytes, at)
        reader().end()
        expect((await read(stream)).failure).toMatchObject({ kind: 'broken' })
      }),
    )
  })

  it('may lack the empty line after its last event', async () => {
    for (const end of ['', '\n', '\r\n']) {
      const { incoming, reader } = body()
      const stream = new ChunkStream(incoming, options)
      reader().data(Buffer.from(`data: ${JSON.stringify(chunkOf('all', 'stop'))}${end}`))
      reader().end()
      expect(await read(stream)).toEqual({ chunks: [chunkOf('all', 'stop')], failure: null })
    }
  })

  it('may begin with a byte order mark', async () => {
    const { incoming, reader } = body()
    const stream = new ChunkStream(incoming, options)
    const bytes = Buffer.from(`\uFEFFdata: ${JSON.stringify(chunkOf('a', 'stop'))}\n\n`)
    for (const byte of bytes) reader().data(Buffer.from([byte]))
    reader().end()
    expect(await read(stream)).toEqual({ chunks: [chunkOf('a', 'stop')], failure: null })
  })

  it('is over with [DONE], whatever comes behind it or never comes', async () => {
    const { incoming, reader, told } = body()
    const stream = new ChunkStream(incoming, options)
    const event = `data: ${JSON.stringify(chunkOf('a'))}\n\n`
    reader().data(Buffer.from(`${event}data: [DONE]\n\n${event}data: broken\n\n`))
    reader().data(Buffer.from(event))
    expect(await read(stream)).toEqual({ chunks: [chunkOf('a')], failure: null })
    expect(told).toEqual(['drain'])
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  it('throws its failure once', async () => {
    const { incoming, reader } = body()
    const stream = new ChunkStream(incoming, options)
    reader().fail(cut('a'))
    await expect(stream.next()).rejects.toMatchObject({ kind: 'broken' })
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  it('answers several who wait, in order', async () => {
    const { incoming, reader } = body()
    const stream = new ChunkStream(incoming, options)
    const waiting = [stream.next(), stream.next(), stream.next()]
    for (const text of ['a', 'b']) reader().data(Buffer.from(`data: ${JSON.stringify(chunkOf(text))}\n\n`))
    reader().data(Buffer.from('data: [DONE]\n\n'))
    expect(await Promise.all(waiting)).toMatchObject([{ value: chunkOf('a') }, { value: chunkOf('b') }, { done: true }])
  })

  it('is held back while too much waits, again and again, also where going on brings the next piece at once', async () => {
    const { incoming, reader, told } = body()
    let left = 40
    const piece = Buffer.from(`data: ${JSON.stringify(chunkOf('x'.repeat(300_000)))}\n\n`)
    const resume = (): void => {
      told.push('resume')
      // As much as makes it pause.
      while (left > 0 && told.at(-1) === 'resume') {
        left--
        reader().data(piece)
      }
      if (left === 0) reader().data(Buffer.from('data: [DONE]\n\n'))
    }
    const stream = new ChunkStream({ ...incoming, resume }, options)
    resume()
    const { chunks, failure } = await read(stream)
    expect(failure).toBeNull()
    expect(chunks).toHaveLength(40)
    expect(told.filter((what) => what === 'pause').length).toBeGreaterThan(5)
  })
})

describe('tool calls', () => {
  const called = (index: number) => chunkEvent({ tool_calls: [{ index, id: `c${index}`, function: { name: 'f' } }] })
  const chunkEvent = (delta: ChatChunk['choices'][number]['delta']) =>
    Buffer.from(`data: ${JSON.stringify({ ...chunkOf(''), choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`)

  it('by the thousand, each in a chunk of its own, break the answer', async () => {
    const { incoming, reader } = body()
    const stream = new ChunkStream(incoming, options)
    for (let i = 0; i < 3_000; i++) reader().data(called(i * 7))
    const { chunks, failure } = await read(stream)
    expect(chunks).toHaveLength(1_024)
    expect(failure).toMatchObject({ code: 'model/upstream-malformed', message: expect.stringContaining('tool calls') })
  })
})
