import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import OpenAI, { APIError } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Trajectory } from '../src/core/index.ts'
import { trajectoryOfSession } from '../src/gateway/index.ts'
import { type GatewayPlace, reading, sqlitePlace } from './support/gateway-place.ts'
import { type GatewayProcess, killGateways, startGatewayProcess } from './support/gateway-process.ts'
import { type FaultKind, nobody, startUpstream, type Upstream } from './support/upstream-server.mjs'

/** Long for a healthy call on a machine that is busy, short for a test. */
const timeoutMs = 2_500
const maxAnswerBytes = 8 * 2 ** 20
/** A call that has not ended by then hangs. */
const boundMs = 60_000

/** A gateway process with its store, behind which things go wrong. */
interface Faulty {
  readonly place: GatewayPlace
  readonly process: GatewayProcess
  readonly client: OpenAI
  readonly url: string
}

let first: Upstream
let second: Upstream
const gateways: Faulty[] = []
/** One upstream, asked once; asked again; and with another one behind it. */
let plain: Faulty
let retrying: Faulty
let falling: Faulty
/** With nobody at the first upstream's address. */
let alone: Faulty
let saved: Faulty

async function gatewayBefore(upstreams: readonly object[]): Promise<Faulty> {
  const place = sqlitePlace()
  const bounds = { firstByteTimeoutMs: timeoutMs, idleTimeoutMs: timeoutMs, maxAnswerBytes, tellsTokens: 'no' }
  const config = { journalMs: 50, upstreams: upstreams.map((upstream) => ({ ...bounds, ...upstream })) }
  const process = startGatewayProcess({ store: place.store, config, logLevel: 'error' })
  const url = await process.listening
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0, timeout: boundMs })
  const gateway = { place, process, client, url }
  gateways.push(gateway)
  return gateway
}

beforeAll(async () => {
  first = await startUpstream({ anyModel: true, record: true })
  second = await startUpstream({ anyModel: true, servedModel: 'second' })
  const gone = await nobody()
  const one = { name: 'first', url: first.url }
  const two = { name: 'second', url: second.url, models: {} }
  plain = await gatewayBefore([{ ...one, retries: 0 }])
  retrying = await gatewayBefore([{ ...one, retries: 2 }])
  falling = await gatewayBefore([
    { ...one, retries: 0 },
    { ...two, models: healthyNames },
  ])
  alone = await gatewayBefore([{ name: 'gone', url: gone, retries: 1 }])
  saved = await gatewayBefore([{ name: 'gone', url: gone, retries: 0 }, two])
})
afterAll(async () => {
  killGateways()
  for (const { place, process } of gateways) {
    await process.ended
    await place.remove()
  }
  await first.close()
  await second.close()
})

const faults: readonly FaultKind[] = [
  'reset',
  'hang',
  'hang-after-headers',
  'hang-midway',
  'keep-alives',
  'rate-limit',
  'server-error',
  'overloaded',
  'html-error',
  'refused',
  'unauthorized',
  'not-found',
  'cut',
  'cut-clean',
  'broken-json',
  'broken-shape',
  'broken-sse',
  'wrong-type',
  'huge',
  'huge-line',
  'late',
  'error-first',
  'error-midway',
  'error-event',
  'no-choices',
  'empty',
]

/** The second upstream knows the faults' names as those of models that are well. */
const healthyNames = Object.fromEntries(faults.map((fault) => [modelOf(fault), 'well']))

/** The scripted upstream fails in the way that its model's name says. */
function modelOf(fault: FaultKind): string {
  return fault === 'late' ? `fault:late:${timeoutMs + 1_500}` : `fault:${fault}`
}

/** What a client of OpenAI's SDK sees of one call. */
interface Seen {
  readonly session: string
  readonly text: string
  readonly error: APIError | null
  /** What the SDK raised that is no error of the API's. */
  readonly strange: unknown
  readonly model: string | null
}

async function call({ client }: Faulty, model: string, stream: boolean, session = randomUUID()): Promise<Seen> {
  const messages = [{ role: 'user' as const, content: `a few words of ${session}, and a few more` }]
  const headers = { 'ratchet-session': session }
  let text = ''
  let served: string | null = null
  try {
    if (stream) {
      for await (const chunk of await client.chat.completions.create({ model, messages, stream }, { headers })) {
        text += chunk.choices[0]?.delta.content ?? ''
        served = chunk.model
      }
    } else {
      const completion = await client.chat.completions.create({ model, messages }, { headers })
      text = completion.choices[0]?.message.content ?? ''
      served = completion.model
    }
    return { session, text, error: null, strange: null, model: served }
  } catch (error) {
    const known = error instanceof APIError
    return { session, text, error: known ? error : null, strange: known ? null : error, model: served }
  }
}

/** What was recorded of a session. */
async function recorded({ place }: Faulty, session: string): Promise<Trajectory> {
  const id = trajectoryOfSession('default', session)
  const record = await reading(place, (store) => store.trajectories.get(id))
  if (!record) throw new Error(`nothing is recorded of ${session}`)
  return record.trajectory
}

const answersOf = ({ nodes }: Trajectory) => nodes.filter(({ message }) => message.role === 'assistant')

/** OpenAI's error object, as the SDK hands it on. */
const ErrorObject = z.looseObject({ message: z.string().min(1), type: z.string().min(1) })

const timedOut = [504, 'model/upstream-timeout'] as const
const broken = (kind: string) => [502, `model/upstream-${kind}`] as const

/** What a call ends with when its upstream is asked once: the status of its answer, and what its record says. */
const whole: Partial<Record<FaultKind, readonly [number, string]>> = {
  reset: broken('unreachable'),
  hang: timedOut,
  'hang-after-headers': timedOut,
  'hang-midway': timedOut,
  'keep-alives': timedOut,
  'rate-limit': [429, 'model/upstream-busy'],
  'server-error': broken('failed'),
  overloaded: [503, 'model/upstream-busy'],
  'html-error': broken('failed'),
  refused: [400, 'model/upstream-refused'],
  unauthorized: [401, 'model/upstream-refused'],
  'not-found': [404, 'model/upstream-refused'],
  cut: broken('cut'),
  'broken-json': broken('malformed'),
  'broken-shape': broken('malformed'),
  'wrong-type': broken('malformed'),
  huge: broken('too-large'),
  late: timedOut,
  'no-choices': broken('malformed'),
  empty: broken('malformed'),
}

/** The same of a stream; 200 where the answer had begun, and the failure is an event in it. */
const streamed: Partial<Record<FaultKind, readonly [number, string]>> = {
  ...whole,
  'hang-midway': [200, 'model/upstream-timeout'],
  cut: [200, 'model/upstream-cut'],
  'cut-clean': [200, 'model/upstream-cut'],
  'broken-json': [200, 'model/upstream-malformed'],
  'broken-shape': [200, 'model/upstream-malformed'],
  'broken-sse': [200, 'model/upstream-malformed'],
  huge: [200, 'model/upstream-too-large'],
  'huge-line': broken('too-large'),
  'error-first': broken('failed'),
  'error-midway': [200, 'model/upstream-failed'],
  'error-event': [200, 'model/upstream-failed'],
  // Some servers begin with such chunks.
  'no-choices': [200, 'model/upstream-malformed'],
  empty: broken('cut'),
}

/** Faults after which a retry or another upstream may do better; the others are the client's to hear. */
const passing = (fault: FaultKind) => !['refused', 'unauthorized'].includes(fault)

describe.each([
  ['whole', false, whole],
  ['streamed', true, streamed],
])('an upstream that fails, asked for a %s answer', (_, stream, expected) => {
  it.each(Object.entries(expected) as [FaultKind, readonly [number, string]][])(
    '%s: the client gets an error, and the record says so',
    async (fault, [status, code]) => {
      const seen = await call(plain, modelOf(fault), stream)
      expect(seen.strange).toBeNull()
      expect(ErrorObject.parse(seen.error?.error)).toBeTruthy()
      // The SDK gives the events of a stream no status.
      expect(seen.error?.status ?? 200).toBe(status)
      if (fault === 'rate-limit') expect(seen.error?.headers?.get('retry-after')).toBe('1')
      const trajectory = await recorded(plain, seen.session)
      expect(trajectory).toMatchObject({ stopReason: 'model-error', failure: { code } })
      expect(trajectory.nodes[0]?.message).toMatchObject({ role: 'user' })
      const [half, ...more] = answersOf(trajectory)
      expect(more).toEqual([])
      expect(half?.message.content ?? '').toBe(seen.text)
      if (half) expect(trajectory.steps).toMatchObject([{ action: half.id, call: { upstream: 'first', finish: null } }])
      if (status === 200 && fault !== 'no-choices') expect(seen.text).not.toBe('')
    },
  )

  it('is asked again where that may help, and no longer than that', async () => {
    const kinds = (Object.keys(expected) as FaultKind[]).filter((fault) => !/huge|hang|late|keep/.test(fault))
    await Promise.all(
      kinds.map(async (fault) => {
        const seen = await call(retrying, modelOf(fault), stream)
        expect(seen.error?.status ?? 200, fault).toBe(expected[fault]?.[0])
        const asked = first.requests.filter(({ raw }) => raw.includes(seen.session))
        const begun = seen.error?.status === undefined
        if (begun || ['refused', 'unauthorized', 'not-found'].includes(fault)) {
          // At most once more, without what the gateway asks for beside the client's request.
          expect(asked.length, fault).toBeLessThanOrEqual(2)
        } else {
          expect(asked.length, fault).toBeGreaterThanOrEqual(3)
          expect(asked.length, fault).toBeLessThanOrEqual(6)
        }
        expect(await recorded(retrying, seen.session)).toMatchObject({ failure: { code: expected[fault]?.[1] } })
      }),
    )
  })

  it('gets better, and the client hears nothing of it', async () => {
    for (const fault of ['reset', 'server-error', 'overloaded', 'rate-limit', 'broken-json', 'empty'] as const) {
      first.fail(...(stream && fault === 'broken-json' ? ['error-first' as const] : [fault]))
      const seen = await call(retrying, 'well', stream)
      expect(seen, fault).toMatchObject({ error: null, strange: null, model: 'well' })
      expect(await recorded(retrying, seen.session)).toMatchObject({ stopReason: 'done', failure: null })
    }
  })

  it('has another one behind it, which answers, and the record names it', async () => {
    const kinds = (Object.keys(expected) as FaultKind[]).filter((fault) => expected[fault]?.[0] !== 200)
    await Promise.all(
      kinds.map(async (fault) => {
        const seen = await call(falling, modelOf(fault), stream)
        const trajectory = await recorded(falling, seen.session)
        if (!passing(fault)) {
          expect(seen.error?.status, fault).toBe(expected[fault]?.[0])
          expect(answersOf(trajectory)).toEqual([])
          return
        }
        expect(seen, fault).toMatchObject({ error: null, strange: null, model: 'second' })
        const [answer] = answersOf(trajectory)
        expect(answer?.message.content).toBe(seen.text)
        expect(trajectory).toMatchObject({
          stopReason: 'done',
          failure: null,
          steps: [{ call: { model: modelOf(fault), upstream: 'second', servedModel: 'second', finish: 'stop' } }],
        })
      }),
    )
  })

  it('is not there at all', async () => {
    const seen = await call(alone, 'well', stream)
    expect(seen).toMatchObject({ strange: null, error: { status: 502 } })
    expect(await recorded(alone, seen.session)).toMatchObject({
      stopReason: 'model-error',
      failure: { code: 'model/upstream-unreachable' },
    })
    const better = await call(saved, 'well', stream)
    expect(better).toMatchObject({ error: null, model: 'second' })
    expect(await recorded(saved, better.session)).toMatchObject({ steps: [{ call: { upstream: 'second' } }] })
  })
})

describe('by the Responses API', () => {
  const cases = [
    ...(Object.entries(whole) as [FaultKind, readonly [number, string]][]).map(([fault, end]) => [
      fault,
      false,
      ...end,
    ]),
    ...(Object.entries(streamed) as [FaultKind, readonly [number, string]][]).map(([fault, end]) => [
      fault,
      true,
      ...end,
    ]),
  ] as [FaultKind, boolean, number, string][]

  it('the client gets an error just so, and the record says so', async () => {
    await Promise.all(
      cases.map(async ([fault, stream, status, code]) => {
        const session = randomUUID()
        const headers = { 'ratchet-session': session }
        const body = { model: modelOf(fault), input: `a few words of ${session}` }
        let text = ''
        const failure = await (async () => {
          if (!stream) return void (await plain.client.responses.create(body, { headers }))
          for await (const event of await plain.client.responses.create({ ...body, stream }, { headers })) {
            if (event.type === 'response.output_text.delta') text += event.delta
          }
        })().then(
          () => null,
          (error: unknown) => error,
        )
        expect(failure, `${fault} ${stream}`).toBeInstanceOf(APIError)
        expect((failure as APIError).status ?? 200, `${fault} ${stream}`).toBe(status)
        const trajectory = await recorded(plain, session)
        expect(trajectory, `${fault} ${stream}`).toMatchObject({ stopReason: 'model-error', failure: { code } })
        expect(answersOf(trajectory)[0]?.message.content ?? '').toBe(text)
      }),
    )
  })
})

describe('while an upstream fails', () => {
  it('others are served: their calls overtake those that hang', async () => {
    const ended: string[] = []
    const hanging = (['hang', 'hang-after-headers', 'hang-midway', 'keep-alives', 'late'] as const).flatMap((fault) =>
      [true, false, true, false].map((stream) =>
        call(plain, modelOf(fault), stream).then((seen) => {
          ended.push('hanging')
          return seen
        }),
      ),
    )
    await expect.poll(() => first.open, { timeout: boundMs }).toBeGreaterThanOrEqual(hanging.length)
    const healthy = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        call(plain, 'well', i % 2 === 0).then((seen) => {
          ended.push('healthy')
          return seen
        }),
      ),
    )
    expect(ended.filter((kind) => kind === 'hanging')).toEqual([])
    for (const { error, strange, text, session } of healthy) {
      expect([error, strange]).toEqual([null, null])
      expect(text).toContain(session)
    }
    for (const { error } of await Promise.all(hanging)) expect(error).toBeInstanceOf(APIError)
  })

  it('others are served while it sends 50 MB to each of several, and memory stays bounded', async () => {
    const before = plain.process.memory().now
    const floods = [
      ['huge', true],
      ['huge', false],
      ['huge-line', true],
    ] as const
    for (let round = 0; round < 4; round++) {
      const flood = [...floods, ...floods].map(([fault, stream]) => call(plain, modelOf(fault), stream))
      const healthy = Array.from({ length: 10 }, (_, i) => call(plain, 'well', i % 2 === 0))
      for (const { error } of await Promise.all(healthy)) expect(error).toBeNull()
      for (const { error } of await Promise.all(flood)) expect(error).toBeInstanceOf(APIError)
    }
    const { peak } = plain.process.memory()
    console.log(`24 answers of 50 MB: ${mega(before)} MB before, ${mega(peak)} MB at the most`)
    expect(peak).toBeLessThan(1_000 * 2 ** 20)
  })

  it('no connection to it is left behind', async () => {
    const suffer = async () => {
      const faults: FaultKind[] = [
        'hang',
        'hang-midway',
        'keep-alives',
        'cut',
        'huge-line',
        'broken-json',
        'html-error',
      ]
      await Promise.all(
        faults.flatMap((fault) => [call(plain, modelOf(fault), true), call(plain, modelOf(fault), false)]),
      )
      // Those that may be used again are few: no two healthy calls are under way at once.
      await call(plain, 'well', true)
    }
    await suffer()
    await delay(500)
    const [open, files] = [first.open, plain.process.openFiles()]
    for (let round = 0; round < 3; round++) await suffer()
    await expect.poll(() => first.open, { timeout: boundMs }).toBeLessThanOrEqual(open + 3)
    await expect.poll(() => plain.process.openFiles(), { timeout: boundMs }).toBeLessThanOrEqual(files + 10)
  })

  it('an answer that comes after the time-out is not taken for another one', async () => {
    const late = call(plain, modelOf('late'), false)
    const after = late.then(() => Promise.all([1, 2, 3].map(() => call(plain, 'well', false))))
    expect((await late).error?.status).toBe(504)
    for (const { text, session } of await after) expect(text).toContain(session)
  })

  it('embeddings and lists of models fail as clearly', async () => {
    first.fail('server-error')
    await expect(plain.client.models.list()).rejects.toMatchObject({ status: 502, code: 'model/upstream-failed' })
    first.fail('broken-json')
    await expect(plain.client.models.list()).rejects.toMatchObject({ status: 502, code: 'model/upstream-malformed' })
    const embed = (model: string) => plain.client.embeddings.create({ model, input: 'text' })
    await expect(embed(modelOf('hang'))).rejects.toMatchObject({ status: 504 })
    await expect(embed(modelOf('cut'))).rejects.toMatchObject({ status: 502 })
    await expect(embed(modelOf('huge'))).rejects.toMatchObject({ status: 502 })
    expect((await embed('well')).data).toHaveLength(1)
  })
})

it('no gateway has failed in a way that it does not expect', () => {
  for (const { process } of gateways) {
    expect(process.isAlive()).toBe(true)
    expect(process.stderr()).toBe('')
    expect(process.log).toEqual([])
  }
})

const mega = (bytes: number) => Math.round(bytes / 2 ** 20)
