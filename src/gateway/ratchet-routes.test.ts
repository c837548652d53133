import { afterEach, beforeEach, expect, it } from 'vitest'
import { CallId, type Store, systemClock, TrajectoryId } from '../core/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../store/index.ts'
import { serveRoutes } from '../../test/support/route-server.ts'
import { trafficCall } from '../../test/support/traffic-call.ts'
import { doorkeeper } from './auth/index.ts'
import { ServeConfig } from './config.ts'
import { createGateway } from './create-gateway.ts'
import { redactionOf } from './episode/redaction/index.ts'
import { BodySpace } from './http/body-room.ts'
import { gatewayTelemetry } from './observe/index.ts'
import { ratchetRoutes, type RatchetRoutesOptions } from './ratchet-routes.ts'

let store: Store
let options: RatchetRoutesOptions
let server: Awaited<ReturnType<typeof serveRoutes>>
beforeEach(async () => {
  store = await openMemoryStore()
  const config = ServeConfig.parse({ redact: ['email', 'phone'] })
  const door = doorkeeper({ keys: store.keys, config, clock: systemClock })
  const redaction = redactionOf(config.redact)
  const telemetry = gatewayTelemetry()
  options = { store, config, door, telemetry, redaction, bodies: new BodySpace(64 * 1024 * 1024) }
  server = await serveRoutes(ratchetRoutes(options))
})
afterEach(async () => {
  await server.close()
  await store.close()
})

it('are all there, in one document', () => {
  const document = server.app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 't', version: '1' } })
  expect(
    Object.entries(document.paths ?? {}).flatMap(([path, item]) => Object.keys(item).map((m) => `${m} ${path}`)),
  ).toEqual([
    'post /ratchet/signals',
    'get /ratchet/trajectories',
    'get /ratchet/trajectories/{id}',
    'get /ratchet/trajectories/{id}/signals',
    'post /ratchet/sessions',
    'post /ratchet/keys',
    'get /ratchet/keys',
    'delete /ratchet/keys/{id}',
    'delete /ratchet/subjects/{subject}',
    'get /ratchet/agents',
    'get /ratchet/agents/{agent}/releases',
    'post /ratchet/agents/{agent}/try',
    'post /ratchet/agents/{agent}/rollback',
    'post /ratchet/agents/{agent}/promote',
    'post /ratchet/agents/{agent}/pin',
    'post /ratchet/agents/{agent}/unpin',
    'get /ratchet/agents/{agent}/audit',
    'get /ratchet/agents/{agent}/audit/next',
    'post /ratchet/agents/{agent}/audit/labels',
    'get /ratchet/agents/{agent}/audit/agreement',
    'post /ratchet/audit/withdraw',
    'get /ratchet/agents/{agent}/audit/signals',
    'get /healthz',
    'get /readyz',
    'get /metrics',
  ])
})

it('work together: an hour later a thumbs-down finds its episode, redacted and counted', async () => {
  const trajectory = TrajectoryId.parse('t_1')
  await store.traffic.append(
    trafficCall(trajectory, CallId.parse('c_1'), { tenant: 'default', at: Date.now() - 3_600_000 }),
  )
  const sent = await server.call('POST', '/ratchet/signals', {
    body: [
      { trajectory, name: 'thumbs', value: false },
      { trajectory, name: 'words', value: 'I am ann@example.com' },
      { trajectory, name: 'revenue', value: 4_915_112_345_678 },
    ],
  })
  expect(sent.status).toBe(200)
  const shown = await server.call('GET', `/ratchet/trajectories/${trajectory}`)
  const values = Object.fromEntries(
    shown.body.signals.map(({ name, value }: { name: string; value: unknown }) => [name, value]),
  )
  expect(values).toEqual({ thumbs: false, words: 'I am [email]', revenue: 4_915_112_345_678 })
  expect((await server.call('GET', '/metrics')).text).toContain('ratchet_signals_total{outcome="recorded"} 3')
  expect((await server.call('GET', '/readyz')).status).toBe(200)
})

it('are served and documented by a gateway, whose refusals have one shape', async () => {
  const gateway = createGateway({
    config: ServeConfig.parse({}),
    doorkeeper: options.door,
    telemetry: options.telemetry,
    // No request of this test reaches them.
    upstream: {} as never,
    recorder: {} as never,
    routes: [ratchetRoutes(options)],
  })
  const post = (path: string, body: unknown) =>
    gateway.fetch(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
  expect((await post('/ratchet/signals', { session: 's', name: 'n', value: 1 })).status).toBe(200)
  const refused = await post('/ratchet/signals', { session: 's', name: 'n' })
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({ error: { type: 'invalid_request_error', param: 'value' } })
  expect(JSON.stringify(gateway.openapi())).toContain('/ratchet/subjects/{subject}')
})
