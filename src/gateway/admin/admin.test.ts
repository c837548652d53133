import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CallId, type Scope, type Store, TrajectoryId } from '../../core/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../../store/index.ts'
import { serveRoutes } from '../../../test/support/route-server.ts'
import { trafficCall } from '../../../test/support/traffic-call.ts'
import { doorkeeper, type KeyDoorkeeper, type NewKeyOptions, newKey, parseToken } from '../auth/index.ts'
import { ServeConfig } from '../config.ts'
import { BodySpace } from '../http/body-room.ts'
import { pseudonymOf } from '../episode/redaction/pseudonym.ts'
import { keyRoutes, sessionRoutes, subjectRoutes } from './index.ts'

const start = 1_700_000_000_000
const day = 86_400_000

let forgotten = 0
let store: Store
let now: number
let door: KeyDoorkeeper
let server: Awaited<ReturnType<typeof serveRoutes>>
let admin: string
const asTheyAre = { redactName: (name: string) => name, redactSession: (name: string) => name }

beforeEach(async () => {
  store = await openMemoryStore()
  now = start
  const clock = { now: () => now }
  door = doorkeeper({ keys: store.keys, config: ServeConfig.parse({}), clock })
  const asking = { door, bodyBytes: 65_536, bodies: new BodySpace(1_000_000), clock, ...asTheyAre }
  server = await serveRoutes(
    sessionRoutes({ ...asking, keys: store.keys }) as never,
    keyRoutes({ ...asking, keys: store.keys }) as never,
    subjectRoutes({ ...asking, trajectories: store.trajectories, onErased: () => (forgotten += 1) }) as never,
  )
  admin = await issue({ scopes: ['admin'] })
})
afterEach(async () => {
  await server.close()
  await store.close()
})

async function issue(options: Partial<NewKeyOptions> = {}): Promise<string> {
  const { key, token } = newKey({ name: 'k', tenant: 'acme', scopes: ['infer', 'signal'], now, ...options })
  await store.keys.put(key)
  return token
}

const idOf = (token: string) => parseToken(token)?.id ?? ''
const identify = (token: string, scope: Scope = 'infer') =>
  door.identify(new Headers({ authorization: `Bearer ${token}`, host: 'localhost' }), scope)

describe('sessions', () => {
  const make = (token: string | undefined, body: unknown = {}) =>
    server.call('POST', '/ratchet/sessions', { body, ...(token !== undefined && { token }) })

  it('have a key each, that can do no more than its maker', async () => {
    const maker = await issue({ agent: 'support', train: false, limits: { concurrency: 3 } })
    const made = await make(maker, { session: 'ticket 1', subject: 'ann' })
    expect(made).toMatchObject({
      status: 201,
      body: { session: 'ticket 1', scopes: ['infer', 'signal'], expiresAt: start + day },
    })
    expect(await identify(made.body.token)).toMatchObject({
      tenant: 'acme',
      key: made.body.key,
      session: 'ticket 1',
      agent: 'support',
      subject: 'ann',
      train: false,
      scopes: new Set(['infer', 'signal']),
      parent: { key: idOf(maker), limits: { concurrency: 3 } },
    })
    await expect(identify(made.body.token, 'read')).rejects.toMatchObject({ status: 403 })
    const again = await make(maker, { session: 'ticket 1' })
    expect(again.body.token).not.toBe(made.body.token)
  })

  it('get a name of their own when they have none', async () => {
    const [one, other] = [await make(admin), await make(admin)]
    expect(one.body.session).toMatch(/^session-\w{20}$/)
    expect(one.body.session).not.toBe(other.body.session)
  })

  it.each<[string, Scope[], unknown, number, unknown]>([
    ['an admin', ['admin'], {}, 201, ['infer', 'signal']],
    ['one who may only ask', ['infer'], {}, 201, ['infer']],
    ['one who wants less', ['infer', 'signal'], { scopes: ['signal'] }, 201, ['signal']],
    ['one who wants more', ['infer'], { scopes: ['infer', 'signal'] }, 403, undefined],
    ['one who wants what no session may', ['admin'], { scopes: ['read'] }, 400, undefined],
    ['one who may not ask', ['signal', 'read'], {}, 403, undefined],
  ])('made by %s', async (_, scopes, body, status, given) => {
    const answer = await make(await issue({ scopes }), body)
    expect(answer.status).toBe(status)
    expect(answer.body.scopes).toEqual(given)
  })

  it('make no sessions', async () => {
    const made = await make(await issue())
    expect(await make(made.body.token)).toMatchObject({ status: 403, body: { error: { code: 'gateway/session-key' } } })
  })

  it('end when they should, and no later than their maker', async () => {
    const maker = await issue({ expiresAt: start + 10_000 })
    expect((await make(maker)).body.expiresAt).toBe(start + 10_000)
    const short = await make(admin, { expiresInSeconds: 5 })
    expect(short.body.expiresAt).toBe(start + 5_000)
    now += 5_000
    await expect(identify(short.body.token)).rejects.toMatchObject({ code: 'gateway/expired-key' })
  })

  it('end with the key that made them', async () => {
    const maker = await issue()
    const made = await make(maker)
    await identify(made.body.token)
    expect((await server.call('DELETE', `/ratchet/keys/${idOf(maker)}`, { token: admin })).status).toBe(200)
    await expect(identify(made.body.token)).rejects.toMatchObject({ code: 'gateway/wrong-key' })
  })

  it.each([
    { session: '' },
    { session: 'a\u0000' },
    { session: 's'.repeat(300) },
    { tenant: 'rival' },
    { scopes: [] },
    { expiresInSeconds: 0 },
    { expiresInSeconds: 1e9 },
    { limits: { concurrency: -1 } },
    [],
    null,
  ])('cannot be %j', async (body) => {
    expect((await make(admin, JSON.stringify(body))).status).toBe(400)
  })
})

describe('sessions without any key', () => {
  it('can be made, and leave the door open', async () => {
    const open = await openMemoryStore()
    const clock = { now: () => now }
    const openDoor = doorkeeper({ keys: open.keys, config: ServeConfig.parse({}), clock })
    const routes = sessionRoutes({
      ...asTheyAre,
      door: openDoor,
      bodyBytes: 1_000,
      bodies: new BodySpace(10_000),
      clock,
      keys: open.keys,
    })
    const serving = await serveRoutes(routes as never)
    const made = await serving.call('POST', '/ratchet/sessions', { body: { session: 'mine' } })
    expect(made.status).toBe(201)
    const caller = await openDoor.identify(new Headers({ 'ratchet-key': made.body.token }), 'infer')
    expect(caller).toMatchObject({ session: 'mine', tenant: 'default' })
    expect(caller.parent).toBeUndefined()
    expect((await serving.call('POST', '/ratchet/sessions', { body: {} })).status).toBe(201)
    await serving.close()
    await open.close()
  })
})

describe('keys', () => {
  it('are made, shown without their secret, and revoked', async () => {
    const made = await server.call('POST', '/ratchet/keys', {
      token: admin,
      body: { name: 'backend', scopes: ['infer'], limits: { requestsPerMinute: 60 }, expiresInSeconds: 60 },
    })
    expect(made).toMatchObject({
      status: 201,
      body: { key: { name: 'backend', tenant: 'acme', expiresAt: start + 60_000 } },
    })
    const { token, key } = made.body
    expect(await identify(token)).toMatchObject({ key: key.id, limits: { requestsPerMinute: 60 } })

    const list = await server.call('GET', '/ratchet/keys', { token: admin })
    expect(list.body.keys.map(({ id }: { id: string }) => id)).toEqual([key.id, idOf(admin)])
    for (const answer of [made.text.replace(token, ''), list.text]) {
      expect(answer).not.toContain(parseToken(token)?.secret)
      expect(answer).not.toContain('secretHash')
      expect(answer).not.toContain((await store.keys.get(key.id))?.secretHash)
    }

    now += 1_000
    for (let i = 0; i < 2; i += 1) {
      const revoked = await server.call('DELETE', `/ratchet/keys/${key.id}`, { token: admin })
      expect(revoked).toMatchObject({ status: 200, body: { key: { id: key.id, revokedAt: start + 1_000 } } })
      await expect(identify(token)).rejects.toMatchObject({ status: 401 })
      now += 1
    }
  })

  it('of sessions are listed when asked for', async () => {
    await server.call('POST', '/ratchet/sessions', { token: admin, body: {} })
    const count = async (query: string) =>
      (await server.call('GET', `/ratchet/keys?${query}`, { token: admin })).body.keys.length
    expect(await count('')).toBe(1)
    expect(await count('sessions=true')).toBe(2)
    expect(await count('sessions=true&limit=1')).toBe(1)
  })

  it('of another tenant are as unknown as none', async () => {
    const theirs = await issue({ tenant: 'rival' })
    const list = await server.call('GET', '/ratchet/keys', { token: admin })
    expect(list.body.keys).toHaveLength(1)
    const [hidden, absent] = [
      await server.call('DELETE', `/ratchet/keys/${idOf(theirs)}`, { token: admin }),
      await server.call('DELETE', '/ratchet/keys/AAAAAAAAAAAAAAAA', { token: admin }),
    ]
    expect(hidden.status).toBe(404)
    expect(hidden.text).toBe(absent.text)
    expect((await store.keys.get(idOf(theirs) as never))?.revokedAt).toBeNull()
  })

  it.each(['infer', 'signal', 'read'] as const)('are not for who has only %s', async (scope) => {
    const token = await issue({ scopes: [scope] })
    for (const [method, path, body] of [
      ['POST', '/ratchet/keys', { name: 'mine', scopes: ['admin'] }],
      ['GET', '/ratchet/keys'],
      ['DELETE', `/ratchet/keys/${idOf(admin)}`],
      ['DELETE', '/ratchet/subjects/ann'],
    ] as const) {
      expect((await server.call(method, path, { token, ...(body && { body }) })).status).toBe(403)
    }
    expect(await store.keys.list({ limit: 10 })).toHaveLength(2)
  })

  it.each([
    { scopes: ['infer'] },
    { name: 'n', scopes: ['root'] },
    { name: 'n', scopes: [] },
    { name: 'n', tenant: 'rival' },
    { name: 'n', secretHash: '0'.repeat(64) },
    { name: 'n', expiresInSeconds: -1 },
    { name: 'n', expiresInSeconds: 1e300 },
  ])('cannot be %j', async (body) => {
    expect((await server.call('POST', '/ratchet/keys', { token: admin, body })).status).toBe(400)
    expect(await store.keys.list({ limit: 10 })).toHaveLength(1)
  })
})

describe('a person', () => {
  const record = (id: string, tenant: string, subject: string | null) =>
    store.traffic.append(trafficCall(TrajectoryId.parse(`t_${id}`), CallId.parse(`c_${id}`), { tenant, subject }))
  const erase = (path: string) => server.call('DELETE', `/ratchet/subjects/${path}`, { token: admin })

  it('is erased from one tenant, and nobody else is', async () => {
    await record('1', 'acme', 'ann@example.com / ü')
    await record('2', 'acme', 'bob')
    await record('3', 'rival', 'ann@example.com / ü')
    await store.signals.append([
      {
        tenant: 'acme',
        key: 'x',
        trajectory: TrajectoryId.parse('t_1'),
        node: null,
        source: 'user',
        reporter: 'k:ann',
        name: 'n',
        value: 1,
        at: 1,
      },
    ])
    const subject = encodeURIComponent('ann@example.com / ü')
    const dry = await erase(`${subject}?dryRun=true`)
    expect(dry).toMatchObject({ status: 200, body: { dryRun: true, removed: { trajectories: 1, signals: 1 } } })
    expect(await store.trajectories.count({})).toBe(3)
    const before = forgotten
    const done = await erase(subject)
    expect(forgotten).toBe(before + 1)
    expect(done.body).toMatchObject({
      dryRun: false,
      removed: dry.body.removed,
      cannotBeUndone: { versions: [], explanation: expect.stringContaining('No version was learned from it') },
    })
    expect(await store.trajectories.get(TrajectoryId.parse('t_1'))).toBeNull()
    expect(await store.trajectories.count({})).toBe(2)
    expect((await erase(subject)).body.removed).toMatchObject({ trajectories: 0, signals: 0 })
  })

  it('is found under what stands for their name, where a redaction rule matched it', async () => {
    await record('1', 'acme', pseudonymOf('acme', 'ann@example.com'))
    await record('2', 'rival', pseudonymOf('rival', 'ann@example.com'))
    const { body } = await erase(encodeURIComponent('ann@example.com'))
    expect(body.removed).toMatchObject({ trajectories: 1 })
    expect(await store.trajectories.get(TrajectoryId.parse('t_1'))).toBeNull()
    expect(await store.trajectories.count({})).toBe(1)
  })

  it.each(['ann?dryRun=yes', 'ann?dryrun=true', '%00', 'x'.repeat(300)])(
    '%s is refused before anything goes',
    async (path) => {
      await record('1', 'acme', 'ann')
      expect((await erase(path)).status).toBe(400)
      expect(await store.trajectories.count({})).toBe(1)
    },
  )

  it('without a name is no route', async () => {
    await record('1', 'acme', null)
    expect((await erase('')).status).toBe(404)
    expect(await store.trajectories.count({})).toBe(1)
  })
})

it('is in the OpenAPI document, and says nowhere that secrets come back', () => {
  const document = server.app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 't', version: '1' } })
  expect(Object.keys(document.paths ?? {})).toEqual([
    '/ratchet/sessions',
    '/ratchet/keys',
    '/ratchet/keys/{id}',
    '/ratchet/subjects/{subject}',
  ])
  expect(JSON.stringify(document)).not.toContain('secretHash')
})
