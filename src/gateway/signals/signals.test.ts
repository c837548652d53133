import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CallId, type Json, KeyId, type Scope, type Signal, type Store, TrajectoryId } from '../../core/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../../store/index.ts'
import { serveRoutes } from '../../../test/support/route-server.ts'
import { trafficCall } from '../../../test/support/traffic-call.ts'
import { TrafficRubricConfig } from '../../reward/index.ts'
import { doorkeeper, newKey } from '../auth/index.ts'
import { ServeConfig } from '../config.ts'
import { answerNode, responseIdOf, trajectoryOfSession } from '../episode/ids.ts'
import { BodySpace } from '../http/body-room.ts'
import { signalRoutes, trajectoryRoutes } from './index.ts'

const hour = 3_600_000
const start = 1_700_000_000_000

let store: Store
let now: number
let counted: Record<string, number>[]
let server: Awaited<ReturnType<typeof serveRoutes>>
let acme: string
let acmeId: string
let rival: string

beforeEach(async () => {
  store = await openMemoryStore()
  now = start
  counted = []
  const config = ServeConfig.parse({
    limits: { signalsPerTrajectory: 5, signalsPerDay: 1_500, bodyBytes: 4 * 1024 * 1024 },
  })
  const clock = { now: () => now }
  const door = doorkeeper({ keys: store.keys, config, clock })
  const asking = { door, bodyBytes: config.limits.bodyBytes, bodies: new BodySpace(64 * 1024 * 1024) }
  const redact = (value: Json): Json =>
    typeof value === 'string' ? value.replaceAll('ann@example.com', '[email]').replaceAll('0815', '[number]') : value
  const redactName = (name: string, tenant: string) => (name.includes('@') ? `hidden-${tenant}` : name)
  server = await serveRoutes(
    signalRoutes({
      ...asking,
      signals: store.signals,
      limits: config.limits,
      clock,
      readings: [TrafficRubricConfig.parse({ signals: { thumbs: { values: { meh: -0.2 } } } }).signals],
      redacting: async (read) => read({ redact, redactName, redactId: (id) => id }),
      telemetry: { signals: (outcomes) => void counted.push({ ...outcomes }) },
    }) as never,
    trajectoryRoutes({
      ...asking,
      signals: store.signals,
      trajectories: store.trajectories,
      redactName,
      redactSession: redactName,
    }) as never,
  )
  ;({ token: acme, id: acmeId } = await issue('acme'))
  rival = (await issue('rival')).token
})
afterEach(async () => {
  await server.close()
  await store.close()
})

async function issue(
  tenant: string,
  options: { scopes?: Scope[]; session?: string; parent?: string; bodyBytes?: number } = {},
) {
  const { key, token } = newKey({
    name: 'k',
    tenant,
    scopes: options.scopes ?? ['infer', 'signal', 'read'],
    session: options.session ?? null,
    ...(options.parent !== undefined && { parent: KeyId.parse(options.parent) }),
    ...(options.bodyBytes !== undefined && { limits: { bodyBytes: options.bodyBytes } }),
    now,
  })
  await store.keys.put(key)
  return { token, id: key.id }
}

const send = (body: unknown, token = acme) => server.call('POST', '/ratchet/signals', { token, body })
const outcomes = async (body: unknown, token = acme): Promise<string[]> =>
  (await send(body, token)).body.signals.map(({ outcome }: { outcome: string }) => outcome)

/** An episode of acme's as the gateway would have recorded it. */
const trajectory = TrajectoryId.parse(`t_${'1'.repeat(24)}`)
const call = CallId.parse(`c_${'2'.repeat(24)}`)
const record = (id = trajectory, tenant = 'acme') => store.traffic.append(trafficCall(id, call, { tenant }))
const kept = (id = trajectory): Promise<readonly Signal[]> => store.signals.of(id)

describe('a signal', () => {
  it('finds its episode by trajectory, node, session or response, and is on the disk when answered', async () => {
    await record()
    const ofSession = trajectoryOfSession('acme', 'ticket 1')
    await store.traffic.append(trafficCall(ofSession, CallId.parse(`c_${'3'.repeat(24)}`), { tenant: 'acme' }))
    const answer = await send([
      { trajectory, name: 'solved', value: true },
      { trajectory, node: answerNode(call), name: 'solved', value: false },
      { session: 'ticket 1', name: 'stars', value: 4 },
      { response: responseIdOf(trajectory, call), name: 'thumbs', value: -1 },
      { response: responseIdOf(trajectory, call, 'resp_'), name: 'words', value: 'not this' },
    ])
    expect(answer).toMatchObject({
      status: 200,
      body: {
        signals: [
          { trajectory, node: null, outcome: 'recorded' },
          { trajectory, node: answerNode(call), outcome: 'recorded' },
          { trajectory: ofSession, node: null, outcome: 'recorded' },
          { trajectory, node: answerNode(call), outcome: 'recorded' },
          { trajectory, node: answerNode(call), outcome: 'recorded' },
        ],
      },
    })
    expect((await kept()).map(({ name, value, node }) => [name, value, node])).toEqual(
      expect.arrayContaining([
        ['solved', true, null],
        ['solved', false, answerNode(call)],
        ['thumbs', -1, answerNode(call)],
        ['words', 'not this', answerNode(call)],
      ]),
    )
    expect(await kept(ofSession)).toMatchObject([
      { tenant: 'acme', name: 'stars', value: 4, source: 'user', reporter: acmeId, at: start },
    ])
    expect(counted).toEqual([{ recorded: 5 }])
  })

  it('may be a demonstration or an edit', async () => {
    await record()
    const demonstration = { kind: 'demonstration', messages: [{ role: 'assistant', content: 'Because.' }] }
    const edit = { kind: 'edit', text: 'So it is.' }
    await send([
      { trajectory, name: 'better', value: demonstration },
      { trajectory, name: 'final', value: edit },
    ])
    expect((await kept()).map(({ value }) => value)).toEqual(expect.arrayContaining([demonstration, edit]))
  })

  it('may come before its episode, long after it, and out of order', async () => {
    await send({ trajectory, name: 'early', value: 1, at: start - 5 })
    await record()
    now += 50 * 24 * hour
    await send([
      { trajectory, name: 'late', value: 1 },
      { trajectory, name: 'earlier', value: 1, at: start - 500 * 24 * hour },
    ])
    expect((await kept()).map(({ name }) => name)).toEqual(['earlier', 'early', 'late'])
  })

  it('says who reports: the key, or the end user that it names', async () => {
    await record()
    await send([
      { trajectory, name: 'thumbs', value: true },
      { trajectory, name: 'thumbs', value: true, reporter: 'ann' },
      { trajectory, name: 'thumbs', value: true, reporter: 'bob' },
    ])
    expect((await kept()).map(({ reporter }) => reporter).toSorted()).toEqual(
      [acmeId, `${acmeId}:ann`, `${acmeId}:bob`].toSorted(),
    )
  })

  it('is redacted before anything is made of it', async () => {
    await record()
    await send({ trajectory, name: 'words', value: 'write to ann@example.com' })
    expect(await kept()).toMatchObject([{ value: 'write to [email]' }])
    await send({ trajectory, name: 'asked ann@example.com', value: 1, reporter: 'ann@example.com', at: start + 1 })
    expect((await kept())[1]).toMatchObject({ name: 'asked [email]', reporter: `${acmeId}:hidden-acme` })
    // What stands for it may be longer than it was.
    await send({ trajectory, name: `${'x'.repeat(124)}0815`, value: 1, at: start + 2 })
    expect((await kept())[2]?.name).toBe(`${'x'.repeat(124)}[num`)
  })
})

describe('sent twice', () => {
  beforeEach(() => record())

  it('is one, also at once', async () => {
    const down = { response: responseIdOf(trajectory, call), name: 'thumbs', value: false }
    const all = await Promise.all(Array.from({ length: 8 }, () => outcomes(down)))
    expect(all.flat().toSorted()).toEqual(['recorded', ...Array.from({ length: 7 }, () => 'repeated')])
    now += hour
    expect(await outcomes([down, down])).toEqual(['repeated', 'repeated'])
    expect(await kept()).toHaveLength(1)
  })

  it('a change of mind, and back, is three', async () => {
    const thumbs = async (value: boolean) => {
      now += 1_000
      return outcomes({ trajectory, name: 'thumbs', value })
    }
    for (const value of [true, true, false, false, true, true]) await thumbs(value)
    expect((await kept()).map(({ value }) => value)).toEqual([true, false, true])
    expect(await thumbs(true)).toEqual(['repeated'])
  })

  it('of another name, node, source or user is another', async () => {
    const base = { trajectory, name: 'thumbs', value: true }
    const variants = [base, { ...base, name: 'x' }, { ...base, node: answerNode(call) }, { ...base, source: 'outcome' }]
    expect(await outcomes(variants)).toEqual(variants.map(() => 'recorded'))
    expect(await outcomes({ ...base, reporter: 'ann' })).toEqual(['recorded'])
    expect(await outcomes(variants.toReversed())).toEqual(variants.map(() => 'repeated'))
  })

  it('at another time is another event, at the same time the same', async () => {
    const buy = (at: number) => ({ trajectory, name: 'bought', value: 1, source: 'outcome', at })
    expect(await outcomes([buy(start - 2), buy(start - 1), buy(start - 2)])).toEqual([
      'recorded',
      'recorded',
      'repeated',
    ])
    expect(await outcomes(buy(start - 1))).toEqual(['repeated'])
  })

  it('under the same idempotency key is one whatever it says, of one API key only', async () => {
    const keyed = (value: number) => ({ trajectory, name: 'n', value, idempotencyKey: 'event 7' })
    expect(await outcomes(keyed(1))).toEqual(['recorded'])
    expect(await outcomes([keyed(2), keyed(1)])).toEqual(['repeated', 'repeated'])
    const other = await issue('acme')
    expect(await outcomes(keyed(3), other.token)).toEqual(['recorded'])
    expect((await kept()).map(({ value }) => value)).toEqual(expect.arrayContaining([1, 3]))
  })
})

describe('too many', () => {
  it('from one reporter about one episode are capped, and only those', async () => {
    await record()
    const many = Array.from({ length: 7 }, (_, i) => ({ trajectory, name: `n${i}`, value: 1 }))
    expect(await outcomes(many)).toEqual([...Array.from({ length: 5 }, () => 'recorded'), 'capped', 'capped'])
    expect(counted).toEqual([{ recorded: 5, capped: 2 }])
    const refused = await send(many.slice(5))
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'gateway/signals-capped' } } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await outcomes([many[0], { ...many[5], reporter: 'ann' }])).toEqual(['repeated', 'recorded'])
  })

  it('by names that one key makes up, or keys of sessions that it makes, are capped too', async () => {
    const session = 'flooded'
    const own = trajectoryOfSession('acme', session)
    await store.traffic.append(trafficCall(own, call, { tenant: 'acme' }))
    const named = Array.from({ length: 50 }, (_, i) => ({ session, name: 'n', value: 1, reporter: `r${i}` }))
    expect((await outcomes(named)).filter((outcome) => outcome === 'recorded')).toHaveLength(40)
    for (let i = 0; i < 3; i++) {
      const { token } = await issue('acme', { session, parent: acmeId })
      expect((await send({ name: 'n', value: 1 }, token)).status).toBe(429)
    }
    expect(await kept(own)).toHaveLength(40)
    expect(await outcomes({ session, name: 'n', value: 1 }, (await issue('acme')).token)).toEqual(['recorded'])
  })

  it('in a day are capped, until the day has passed', async () => {
    const about = (i: number) => ({ session: `s${i}`, name: 'n', value: 1 })
    await send(Array.from({ length: 1_000 }, (_, i) => about(i)))
    const second = await outcomes(Array.from({ length: 600 }, (_, i) => about(1_000 + i)))
    expect(second.filter((outcome) => outcome === 'recorded')).toHaveLength(500)
    expect((await send(about(9_999))).status).toBe(429)
    now += 24 * hour + 1
    expect(await outcomes(about(9_999))).toEqual(['recorded'])
  })
})

describe('another tenant', () => {
  it('neither sees what is said of its episode nor can tell whether there is one', async () => {
    await record()
    const signals = [
      { trajectory, name: 'forged', value: true },
      { response: responseIdOf(trajectory, call), name: 'f', value: 1 },
    ]
    const about = await send(signals, rival)
    const nowhere = TrajectoryId.parse(`t_${'9'.repeat(24)}`)
    const aboutNothing = await send(
      [
        { ...signals[0], trajectory: nowhere },
        { ...signals[1], response: responseIdOf(nowhere, call) },
      ],
      rival,
    )
    expect(about.status).toBe(aboutNothing.status)
    expect(about.text.replaceAll(trajectory, nowhere)).toBe(aboutNothing.text)
    expect(await kept()).toEqual([])
    expect((await server.call('GET', `/ratchet/trajectories/${trajectory}`, { token: acme })).body.signals).toEqual([])
    // Nor by saying again what was said: what others said of it plays no part.
    await send({ trajectory, name: 'thumbs', value: true })
    const again = await send({ trajectory, name: 'thumbs', value: true }, rival)
    expect(again.body.signals).toMatchObject([{ outcome: 'recorded' }])
  })

  it('has its own session of the same name', async () => {
    const [ours, theirs] = [
      await send({ session: 's', name: 'n', value: 1 }),
      await send({ session: 's', name: 'n', value: 1 }, rival),
    ]
    expect(ours.body.signals[0].trajectory).not.toBe(theirs.body.signals[0].trajectory)
  })
})

describe('the key of a session', () => {
  it('speaks of its own session, named or not, as its user', async () => {
    const own = trajectoryOfSession('acme', 'mine')
    const { token, id } = await issue('acme', { session: 'mine', parent: acmeId })
    await store.traffic.append(trafficCall(own, call, { tenant: 'acme' }))
    expect(
      await outcomes(
        [
          { name: 'a', value: 1 },
          { session: 'mine', name: 'b', value: 1 },
          { response: responseIdOf(own, call), name: 'c', value: 1 },
        ],
        token,
      ),
    ).toEqual(['recorded', 'recorded', 'recorded'])
    expect((await kept(own)).map(({ reporter }) => reporter)).toEqual(Array(3).fill(`${acmeId}:${id}`))
    const others = [
      { session: 'yours', name: 'n', value: 1 },
      { trajectory, name: 'n', value: 1 },
      { response: responseIdOf(trajectory, call), name: 'n', value: 1 },
      { name: 'solved', value: true, source: 'outcome' },
      { name: 'solved', value: true, source: 'verifier' },
      { name: 'n', value: 1, reporter: 'ann' },
    ]
    for (const other of others) {
      expect(await send(other, token)).toMatchObject({ status: 403, body: { error: { code: 'gateway/session-key' } } })
    }
    expect(
      (
        await server.call('GET', '/ratchet/trajectories', {
          token: (await issue('acme', { scopes: ['infer', 'signal'], session: 'x', parent: acmeId })).token,
        })
      ).status,
    ).toBe(403)
  })
})

it('words count that a rubric reads, and so do words under a name that none reads', async () => {
  for (const [name, value] of [
    ['thumbs', 'meh'],
    ['thumbs', 'true'],
    ['note', 'maybe'],
  ])
    expect((await send({ trajectory, name, value })).status, `${name} ${value}`).toBe(200)
})

describe('what cannot be taken', () => {
  const good = { trajectory, name: 'n', value: 1 }

  it.each<[string, unknown, string | null]>([
    ['no target', { name: 'n', value: 1 }, null],
    ['two targets', { ...good, session: 's' }, null],
    ['a node without its trajectory', { session: 's', node: 'n', name: 'n', value: 1 }, 'node'],
    ['an id of an upstream', { response: 'chatcmpl-AbC123', name: 'n', value: 1 }, 'response'],
    ['no name', { trajectory, value: 1 }, 'name'],
    ['no value', { trajectory, name: 'n' }, 'value'],
    ['a value of no kind', { ...good, value: { kind: 'bribe' } }, null],
    ['words that no rubric reads', { trajectory, name: 'thumbs', value: 'maybe' }, 'value'],
    ['a nameless value', { ...good, value: null }, 'value'],
    ['a guard', { ...good, source: 'guard' }, 'source'],
    ['an unknown field', { ...good, weight: 100 }, null],
    ['seconds for milliseconds', { ...good, at: 1_700_000_000 }, 'at'],
    ['a time that never was', { ...good, at: 1e300 }, 'at'],
    ['half a millisecond', { ...good, at: start + 0.5 }, 'at'],
    ['tomorrow', { ...good, at: start + 24 * hour }, 'at'],
    ['a name with a zero byte', { ...good, name: 'a\u0000b' }, 'name'],
    ['an id with a zero byte', { ...good, trajectory: 'a\u0000b' }, 'trajectory'],
    ['half a character', { ...good, reporter: '\ud800' }, 'reporter'],
    ['a name without end', { ...good, name: 'n'.repeat(1_000) }, 'name'],
    ['a value without end', { ...good, value: 'v'.repeat(2 * 1024 * 1024) }, 'value'],
    ['nothing', [], null],
    ['more than a thousand', Array.from({ length: 1_001 }, () => good), null],
    ['the wrong thing', 'signal', null],
    ['nothing at all', null, null],
    ['one bad among good', [good, { ...good, name: '' }], '1.name'],
    ['one about nothing among good', [good, { name: 'n', value: 1 }], '1'],
  ])('%s is refused, says where, and nothing is written', async (_, body, param) => {
    await record()
    const answer = await send(JSON.stringify(body))
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatchObject({ type: 'invalid_request_error', message: expect.any(String) })
    if (param !== null) expect(answer.body.error.param).toBe(param)
    expect(await kept()).toEqual([])
  })

  it.each([
    ['broken JSON', '{"trajectory":', 400],
    ['deep JSON', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 400],
    ['too large a body', `{"x":"${'x'.repeat(5 * 1024 * 1024)}"}`, 413],
  ])('%s is refused', async (_, body, status) => {
    const answer = await send(body)
    expect(answer.status).toBe(status)
    expect(answer.body.error.message).toEqual(expect.any(String))
  })

  it.each([
    [{ trajectory, name: 'n' }, 'at value: expected number or boolean or string or object'],
    ['signal', 'expected object or array'],
    [{ ...good, weight: 1 }, 'Unrecognized key: "weight"'],
    [[good, { ...good, value: { kind: 'edit', text: 1 } }], 'at 1.value.text: Invalid input: expected string'],
  ])('%j is refused in words that help', async (body, words) => {
    expect((await send(JSON.stringify(body))).body.error.message).toContain(words)
  })

  it('a key may bring less than the gateway takes', async () => {
    const { token } = await issue('acme', { bodyBytes: 100 })
    expect((await send({ trajectory, name: 'n', value: 'v'.repeat(100) }, token)).status).toBe(413)
  })

  it('what is no JSON by its type is refused: web pages may post that unasked', async () => {
    const headers = { 'content-type': 'text/plain' }
    const answer = await server.call('POST', '/ratchet/signals', { token: acme, body: JSON.stringify(good), headers })
    expect(answer.status).toBe(415)
  })

  it('without the scope, or without a key, nothing is', async () => {
    const { token } = await issue('acme', { scopes: ['infer', 'read'] })
    expect((await send(good, token)).status).toBe(403)
    expect((await server.call('POST', '/ratchet/signals', { body: good })).status).toBe(401)
  })

  it('whatever comes, the answer is JSON in the known shape and never a failure of ours', async () => {
    const some = fc.anything({ maxDepth: 3 }).map((value) => value as never)
    const signalish = fc.record(
      {
        trajectory: fc.oneof(fc.string({ unit: 'binary' }), some),
        session: fc.oneof(fc.string({ unit: 'binary' }), some),
        name: fc.oneof(fc.string({ unit: 'binary' }), some),
        value: some,
        at: fc.oneof(fc.double(), some),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), signalish, fc.array(signalish)), async (body) => {
        let text: string | undefined
        try {
          text = JSON.stringify(body)
        } catch {
          return
        }
        if (text === undefined) return
        const answer = await send(text)
        expect([200, 400, 429]).toContain(answer.status)
        expect(answer.body).toHaveProperty(answer.status === 200 ? 'signals' : 'error.message')
      }),
      { numRuns: 60 },
    )
  })
})

describe('trajectories', () => {
  const get = (path: string, token = acme) => server.call('GET', path, { token })

  it('are listed and shown to their own tenant only, with their evidence', async () => {
    await record()
    const theirs = TrajectoryId.parse(`t_${'5'.repeat(24)}`)
    await store.traffic.append(trafficCall(theirs, CallId.parse(`c_${'6'.repeat(24)}`), { tenant: 'rival' }))
    await send({ trajectory, name: 'solved', value: true })
    const list = await get('/ratchet/trajectories')
    expect(list.body.trajectories).toMatchObject([{ id: trajectory, tenant: 'acme', signals: 1, calls: 1 }])
    const one = await get(`/ratchet/trajectories/${trajectory}`)
    expect(one.body).toMatchObject({
      trajectory: { id: trajectory, origin: { kind: 'traffic', tenant: 'acme' } },
      reward: { status: 'missing' },
      signals: [{ name: 'solved', value: true }],
    })
    expect((await get(`/ratchet/trajectories/${trajectory}/signals`)).body.signals).toHaveLength(1)
    for (const path of [`/ratchet/trajectories/${theirs}`, `/ratchet/trajectories/${theirs}/signals`]) {
      const [hidden, absent] = [await get(path), await get(path.replaceAll('5', '7'))]
      expect(hidden.status).toBe(404)
      expect(hidden.text).toBe(absent.text)
    }
  })

  it('are filtered, and a filter that is mistyped is an error', async () => {
    const a = TrajectoryId.parse('t_a')
    await store.traffic.append(
      trafficCall(a, CallId.parse('c_a'), { tenant: 'acme', subject: 'ann & co', session: 's 1' }),
    )
    await record()
    const ids = async (query: string) =>
      (await get(`/ratchet/trajectories?${query}`)).body.trajectories.map(({ id }: { id: string }) => id)
    expect(await ids('subject=ann%20%26%20co')).toEqual([a])
    expect(await ids('session=s%201')).toEqual([a])
    expect(await ids('limit=1')).toHaveLength(1)
    expect(await ids('origin=import')).toEqual([])
    for (const query of [
      'sesion=s',
      'limit=0',
      'limit=1001',
      'limit=x',
      'since=x',
      'origin=y',
      'session=a&session=b',
      'tenant=rival',
    ]) {
      expect((await get(`/ratchet/trajectories?${query}`)).status).toBe(400)
    }
  })

  it.each(['%00', '%ff', 'x'.repeat(300), '..%2f..%2fetc'])('an id that cannot be one (%s) is refused', async (id) => {
    expect([400, 404]).toContain((await get(`/ratchet/trajectories/${id}`)).status)
  })
})

it('is in the OpenAPI document', () => {
  const document = server.app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 't', version: '1' } })
  expect(Object.keys(document.paths ?? {})).toEqual([
    '/ratchet/signals',
    '/ratchet/trajectories',
    '/ratchet/trajectories/{id}',
    '/ratchet/trajectories/{id}/signals',
  ])
  expect(JSON.stringify(document)).toContain('idempotencyKey')
})
