import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Store } from '../../core/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../../store/index.ts'
import { privateAnswer, privateCaller } from '../../../test/support/answered.ts'
import { serveRoutes } from '../../../test/support/route-server.ts'
import { doorkeeper, newKey } from '../auth/index.ts'
import { ServeConfig } from '../config.ts'
import { observeRoutes } from './observe-routes.ts'
import { readiness, storeChecks } from './readiness.ts'
import { gatewayTelemetry, type GatewayTelemetry } from './telemetry.ts'

let store: Store
let telemetry: GatewayTelemetry
let server: Awaited<ReturnType<typeof serveRoutes>>
beforeEach(async () => {
  store = await openMemoryStore()
  telemetry = gatewayTelemetry()
  const door = doorkeeper({ keys: store.keys, config: ServeConfig.parse({}), clock: { now: () => 1 } })
  server = await serveRoutes(observeRoutes({ door, keys: store.keys, telemetry, tenant: 'default' }) as never)
})
afterEach(async () => {
  await server.close()
  await store.close()
})

const info = { operation: 'chat', model: 'm', stream: false, caller: privateCaller, trajectory: null } as const
const commit = (recorded: boolean) =>
  telemetry.call(info).end({
    status: 200,
    answer: privateAnswer,
    failure: null,
    committed: recorded ? { recorded, nodes: [] } : { recorded, reason: 'disk full' },
  })

it('is alive whatever else is wrong', async () => {
  vi.spyOn(store.keys, 'list').mockRejectedValue(new Error('disk'))
  commit(false)
  expect(await server.call('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })
})

describe('ready', () => {
  it('when the store can be read and took the latest call', async () => {
    commit(true)
    expect(await server.call('GET', '/readyz')).toMatchObject({
      status: 200,
      body: { status: 'ready', checks: { store: 'ok', commits: 'ok' } },
    })
  })

  it('not when the store cannot be read, without saying why to everyone', async () => {
    vi.spyOn(store.keys, 'list').mockRejectedValue(new Error('/home/ann/db: disk I/O error'))
    const answer = await server.call('GET', '/readyz')
    expect(answer).toMatchObject({ status: 503, body: { status: 'not-ready', checks: { store: 'failed' } } })
    expect(answer.text).not.toContain('ann')
  })

  it('not when the latest call could not be written', async () => {
    commit(false)
    expect(await server.call('GET', '/readyz')).toMatchObject({ status: 503, body: { checks: { commits: 'failed' } } })
  })

  it('again after a while, because only a call can show that the disk has room', async () => {
    let ageMs = 9_999
    const [, commits] = storeChecks({ list: async () => [] }, () => ({ ok: false, ageMs }))
    await expect(commits?.run()).rejects.toThrow()
    ageMs = 10_000
    await expect(commits?.run()).resolves.toBeUndefined()
  })

  it('not when a check hangs, and who asks does not', async () => {
    vi.useFakeTimers()
    try {
      const asked = readiness([{ name: 'upstream', run: () => new Promise(() => {}) }])()
      await vi.advanceTimersByTimeAsync(2_000)
      expect(await asked).toEqual({ ready: false, checks: { upstream: 'slow' } })
    } finally {
      vi.useRealTimers()
    }
  })

  it('asks the store once a second, however often it is asked', async () => {
    const list = vi.spyOn(store.keys, 'list')
    await Promise.all(Array.from({ length: 50 }, () => server.call('GET', '/readyz')))
    expect(list.mock.calls.length).toBeLessThanOrEqual(2)
  })
})

describe('metrics', () => {
  it('are told in the format of Prometheus, the process with them', async () => {
    commit(true)
    const answer = await server.call('GET', '/metrics')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4')
    expect(answer.text).toContain('ratchet_commits_total{outcome="committed"} 1')
    expect(answer.text).toContain('process_cpu_seconds_total')
  })

  it('are for who may read, once there are keys', async () => {
    const [reader, asker] = (['read', 'infer'] as const).map((scope) =>
      newKey({ name: 'k', tenant: 'default', scopes: [scope], now: 1 }),
    )
    for (const made of [reader!, asker!]) await store.keys.put(made.key)
    expect((await server.call('GET', '/metrics')).status).toBe(401)
    expect((await server.call('GET', '/metrics', { token: asker!.token })).status).toBe(403)
    expect((await server.call('GET', '/metrics', { token: reader!.token })).status).toBe(200)
    expect((await server.call('GET', '/readyz')).status).toBe(200)
    const { key, token } = newKey({ name: 'k', tenant: 'acme', scopes: ['admin'], now: 1 })
    await store.keys.put(key)
    expect(await server.call('GET', '/metrics', { token })).toMatchObject({
      status: 403,
      body: { error: { code: 'gateway/other-tenant' } },
    })
  })
})
