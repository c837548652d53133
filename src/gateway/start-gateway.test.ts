import { afterEach, expect, it, vi } from 'vitest'
import type { Store } from '../core/index.ts'
import { bounded, openAiUpstream } from '../model/openai/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { startUpstream, type Upstream } from '../../test/support/upstream-server.mjs'
import { newKey } from './auth/index.ts'
import { ServeConfig } from './config.ts'
import { silent } from './log.ts'
import { type RunningGateway, startGateway } from './start-gateway.ts'

const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close()
})

async function start(config: object = {}): Promise<{ gateway: RunningGateway; store: Store; server: Upstream }> {
  const server = await startUpstream()
  const store = await openMemoryStore()
  const upstream = bounded(openAiUpstream({ name: 'scripted', url: server.url }), { concurrency: 9, queue: 9 })
  opened.push(server, store, upstream)
  const parsed = ServeConfig.parse({ port: 0, upstreams: [{ name: 'scripted', url: server.url }], ...config })
  const gateway = await startGateway({ config: parsed, store, upstream, exclusive: true, logger: silent })
  opened.push(gateway)
  return { gateway, store, server }
}

const ask = (url: string, text: string) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content: text }] }),
  })

it('records, reports, counts and describes itself on one port', async () => {
  const { gateway, store } = await start({ redact: ['email'] })
  const answered = await ask(gateway.url, 'Write to ann@example.com')
  expect(answered.status).toBe(200)
  const { id } = (await answered.json()) as { id: string }
  const signal = await fetch(`${gateway.url}/ratchet/signals`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ response: id, name: 'thumbs', value: true }),
  })
  expect(signal.status).toBe(200)
  const [record] = await store.trajectories.list({ limit: 1 })
  expect(JSON.stringify(record)).not.toContain('ann@example.com')
  expect(await store.signals.of(record!.trajectory.id)).toMatchObject([{ name: 'thumbs', value: true }])
  await fetch(`${gateway.url}/s/secret-name/nowhere`)
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
  expect(metrics).toContain('ratchet_http_requests_total{method="POST",route="/v1/chat/completions",status="200"} 1')
  expect(metrics).toContain('route="unmatched",status="404"} 1')
  expect(metrics).toContain('ratchet_upstream_calls{upstream="scripted",state="active"} 0')
  expect(metrics).not.toContain('secret-name')
  const { paths } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as { paths: object }
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining(['/v1/chat/completions', '/v1/responses', '/ratchet/signals', '/readyz', '/metrics']),
  )
  expect(gateway.open).toBe(true)
})

it('removes keys of sessions that expired long ago', async () => {
  const store = await openMemoryStore()
  opened.push(store)
  const key = (name: string, expiresAt: number) =>
    newKey({ name, tenant: 'default', scopes: ['infer'], session: name, expiresAt, now: 0 }).key
  const [old, current] = [key('old', 1), key('current', Date.now())]
  for (const one of [old, current]) await store.keys.put(one)
  const upstream = openAiUpstream({ name: 'scripted', url: 'http://127.0.0.1:9' })
  const config = ServeConfig.parse({ port: 0, upstreams: [{ name: 'scripted', url: 'http://127.0.0.1:9' }] })
  opened.push(await startGateway({ config, store, upstream, exclusive: true, logger: silent }))
  await vi.waitFor(async () => expect(await store.keys.get(old.id)).toBeNull())
  expect(await store.keys.get(current.id)).not.toBeNull()
})

it('does not start where it must not: open to the network, or with a rule that is none', async () => {
  await expect(start({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'gateway/open-to-the-network' })
  await expect(start({ redact: ['emial'] })).rejects.toMatchObject({ code: 'gateway/unknown-redaction' })
})
