import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ApiKey, type Clock, Scope, type Store } from '../../core/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../../store/index.ts'
import { ServeConfig } from '../config.ts'
import { doorkeeper, type KeyDoorkeeper } from './doorkeeper.ts'
import { type NewKeyOptions, newKey } from './token.ts'

let store: Store
let time: { now: number }
let wall: { now: number }
let clock: Clock
beforeEach(async () => {
  store = await openMemoryStore()
  time = { now: 1_000 }
  wall = { now: 1_700_000_000_000 }
  clock = { now: () => wall.now }
})
afterEach(() => store.close())

function doorFor(config: Partial<ServeConfig> = {}): KeyDoorkeeper {
  return doorkeeper({
    keys: store.keys,
    config: { ...ServeConfig.parse({}), ...config },
    clock,
    perf: { now: () => time.now },
  })
}

async function issue(options: Partial<NewKeyOptions> = {}): Promise<{ key: ApiKey; token: string }> {
  const made = newKey({ name: 'k', tenant: 'acme', scopes: ['infer', 'signal'], now: wall.now, ...options })
  await store.keys.put(made.key)
  return made
}

const bearer = (token: string) => new Headers({ authorization: `Bearer ${token}` })
const nobody = new Headers({ host: 'localhost:8787' })

describe('a key', () => {
  it('says who is asking', async () => {
    const { key, token } = await issue({
      agent: 'support',
      subject: 'ann',
      limits: { requestsPerMinute: 5 },
    })
    expect(await doorFor().identify(bearer(token), 'infer')).toEqual({
      tenant: 'acme',
      key: key.id,
      scopes: new Set(['infer', 'signal']),
      session: null,
      agent: 'support',
      subject: 'ann',
      train: true,
      limits: { requestsPerMinute: 5, concurrency: null, bodyBytes: null },
      authorization: null,
    })
  })

  it('leaves Authorization to the upstream when it comes in ratchet-key', async () => {
    const { token } = await issue()
    const headers = new Headers({ 'ratchet-key': token, authorization: 'Bearer sk-upstream' })
    expect((await doorFor().identify(headers, 'infer')).authorization).toBe('Bearer sk-upstream')
  })

  it('may do what its scopes say; admin may everything', async () => {
    const door = doorFor()
    const { token } = await issue({ scopes: ['infer'] })
    const admin = await issue({ scopes: ['admin'] })
    for (const scope of Scope.options) {
      const asked = door.identify(bearer(token), scope)
      if (scope === 'infer') await expect(asked).resolves.toBeDefined()
      else
        await expect(asked).rejects.toMatchObject({
          status: 403,
          type: 'permission_error',
          code: 'gateway/missing-scope',
        })
      expect((await door.identify(bearer(admin.token), scope)).scopes).toEqual(new Set(Scope.options))
    }
  })

  it.each([
    ['another secret', (token: string) => `${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`],
    ['another id', (token: string) => token.replace(/^rk_./, (start) => (start === 'rk_a' ? 'rk_b' : 'rk_a'))],
    ['its id and hash', () => 'rk_aaaaaaaaaaaa_'],
    ['half of it', (token: string) => token.slice(0, 30)],
    ['text', () => 'rk_hello'],
  ])('is not %s, and the refusal does not say what was wrong', async (_, mangle) => {
    const { token } = await issue()
    await expect(doorFor().identify(bearer(mangle(token)), 'infer')).rejects.toMatchObject({
      status: 401,
      type: 'authentication_error',
      code: 'gateway/wrong-key',
    })
  })

  it('expires, to the millisecond, also while it is remembered', async () => {
    const door = doorFor()
    const { token } = await issue({ expiresAt: wall.now + 100 })
    await door.identify(bearer(token), 'infer')
    wall.now += 99
    await door.identify(bearer(token), 'infer')
    wall.now += 1
    await expect(door.identify(bearer(token), 'infer')).rejects.toMatchObject({
      code: 'gateway/expired-key',
      status: 401,
    })
  })

  it('stops working once revoked: here when told, elsewhere within seconds', async () => {
    const [here, elsewhere] = [doorFor(), doorFor()]
    const { key, token } = await issue()
    for (const door of [here, elsewhere]) await door.identify(bearer(token), 'infer')
    await store.keys.revoke(key.id, wall.now)
    here.forget(key.id)
    await expect(here.identify(bearer(token), 'infer')).rejects.toMatchObject({ code: 'gateway/wrong-key' })
    time.now += 3_001
    await expect(elsewhere.identify(bearer(token), 'infer')).rejects.toMatchObject({ code: 'gateway/wrong-key' })
  })

  it('forbids learning where it, its maker or the gateway does', async () => {
    const learner = await issue()
    const silent = await issue({ train: false })
    const child = await issue({ session: 's', parent: silent.key.id })
    const trains = async (door: KeyDoorkeeper, token: string) => (await door.identify(bearer(token), 'infer')).train
    expect(await trains(doorFor(), learner.token)).toBe(true)
    expect(await trains(doorFor(), silent.token)).toBe(false)
    expect(await trains(doorFor(), child.token)).toBe(false)
    expect(await trains(doorFor({ train: false }), learner.token)).toBe(false)
  })
})

describe('the key of a session', () => {
  it('carries its session and the limits of its maker', async () => {
    const maker = await issue({ limits: { concurrency: 1 } })
    const { token } = await issue({ session: 'ticket 1', parent: maker.key.id })
    const door = doorFor()
    const caller = await door.identify(bearer(token), 'infer')
    expect(caller).toMatchObject({ session: 'ticket 1', parent: { key: maker.key.id, limits: { concurrency: 1 } } })
    const leave = door.arrive(caller).enter()
    const byMaker = await door.identify(bearer(maker.token), 'infer')
    expect(() => door.arrive(byMaker).enter()).toThrow('1 requests under way')
    leave()
    door.arrive(byMaker).enter()()
  })

  it.each([
    ['is revoked', async (maker: ApiKey) => void (await store.keys.revoke(maker.id, 1)), 'gateway/wrong-key'],
    ['expires', async () => void (wall.now += 1_000), 'gateway/expired-key'],
  ])('ends when its maker %s', async (_, end, code) => {
    const maker = await issue({ expiresAt: wall.now + 1_000 })
    const { token } = await issue({ session: 's', parent: maker.key.id })
    const door = doorFor()
    await door.identify(bearer(token), 'infer')
    await end(maker.key)
    time.now += 3_001
    await expect(door.identify(bearer(token), 'infer')).rejects.toMatchObject({ code })
  })

  it('of a maker that is gone does not work', async () => {
    const maker = newKey({ name: 'gone', tenant: 'acme', scopes: ['infer'], now: 1 })
    const { token } = await issue({ session: 's', parent: maker.key.id })
    await expect(doorFor().identify(bearer(token), 'infer')).rejects.toMatchObject({ code: 'gateway/wrong-key' })
  })
})

describe('without a key', () => {
  it('this machine is served as long as there is none', async () => {
    const door = doorFor({ tenant: 'mine' })
    const caller = await door.identify(new Headers({ host: 'localhost', authorization: 'Bearer sk-1' }), 'infer')
    expect(caller).toMatchObject({
      tenant: 'mine',
      key: 'open',
      session: null,
      authorization: 'Bearer sk-1',
      train: true,
    })
    for (const scope of ['infer', 'signal', 'read'] as const) await door.identify(nobody, scope)
    await expect(door.identify(nobody, 'admin')).rejects.toMatchObject({ status: 403, code: 'gateway/missing-scope' })
    await issue()
    time.now += 2_001
    await expect(door.identify(nobody, 'infer')).rejects.toMatchObject({ status: 401, code: 'gateway/no-key' })
  })

  it('the first key that is used shuts the door behind it at once, and that of a session does not', async () => {
    const door = doorFor()
    await door.identify(nobody, 'infer')
    const session = await issue({ session: 's' })
    await door.identify(bearer(session.token), 'infer')
    time.now += 2_001
    await door.identify(nobody, 'infer')
    const { token } = await issue()
    await door.identify(bearer(token), 'infer')
    await expect(door.identify(nobody, 'infer')).rejects.toMatchObject({ code: 'gateway/no-key' })
  })

  it('the key of a session that nobody’s key made ends with the open door', async () => {
    const door = doorFor()
    const { token } = await issue({ session: 's' })
    await door.identify(bearer(token), 'infer')
    const maker = await issue()
    const made = await issue({ session: 's', parent: maker.key.id })
    time.now += 4_001
    await expect(door.identify(bearer(token), 'infer')).rejects.toMatchObject({ code: 'gateway/expired-key' })
    expect(await door.identify(bearer(made.token), 'infer')).toMatchObject({ session: 's' })
    const { token: late } = await issue({ session: 's' })
    await expect(doorFor({ auth: 'required' }).identify(bearer(late), 'infer')).rejects.toMatchObject({ status: 401 })
  })

  it('nobody is served again because the last key was revoked', async () => {
    const { key } = await issue()
    await store.keys.revoke(key.id, 1)
    await expect(doorFor().identify(nobody, 'infer')).rejects.toMatchObject({ code: 'gateway/no-key' })
  })

  it.each([
    ['keys are required', { auth: 'required' as const }],
    ['the network can reach it', { host: '0.0.0.0' }],
  ])('nobody is served where %s', async (_, config) => {
    await expect(doorFor(config).identify(nobody, 'infer')).rejects.toMatchObject({ status: 401 })
  })

  it('a token that is sent has to be right', async () => {
    const { token } = newKey({ name: 'k', tenant: 'acme', scopes: ['infer'], now: 1 })
    for (const wrong of [token, 'rk_x', `${token}x`]) {
      await expect(doorFor().identify(bearer(wrong), 'infer')).rejects.toMatchObject({ status: 401 })
    }
  })

  it.each([{ host: 'evil.example' }, { host: 'localhost', origin: 'https://evil.example' }])(
    'a web page elsewhere is not served: %j',
    async (headers) => {
      await expect(doorFor().identify(new Headers(headers as Record<string, string>), 'read')).rejects.toMatchObject({
        status: 403,
        code: 'gateway/not-this-machine',
      })
    },
  )

  it('asks the store for keys once in a while, not for every request', async () => {
    const list = vi.spyOn(store.keys, 'list')
    const door = doorFor()
    for (let i = 0; i < 100; i += 1) await door.identify(nobody, 'infer')
    expect(list).toHaveBeenCalledTimes(1)
    time.now += 2_001
    await door.identify(nobody, 'infer')
    expect(list).toHaveBeenCalledTimes(2)
  })

  it('a store that cannot be read opens nothing', async () => {
    vi.spyOn(store.keys, 'list').mockRejectedValue(new Error('disk'))
    await expect(doorFor().identify(nobody, 'infer')).rejects.toMatchObject({ status: 503 })
  })
})

it('a clock that is set back locks nobody out and lets nobody in for longer', async () => {
  const door = doorFor({ limits: { ...ServeConfig.parse({}).limits, requestsPerMinute: 2 } })
  const { key, token } = await issue()
  const caller = await door.identify(bearer(token), 'infer')
  door.arrive(caller).enter()()
  door.arrive(caller).enter()()
  expect(() => door.arrive(caller).enter()).toThrow('requests a minute')
  wall.now -= 365 * 86_400_000
  await store.keys.revoke(key.id, wall.now)
  time.now += 30_000
  door.arrive(caller).enter()()
  await expect(door.identify(bearer(token), 'infer')).rejects.toMatchObject({ code: 'gateway/wrong-key' })
})
