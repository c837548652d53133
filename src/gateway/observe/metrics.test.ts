import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { countRequests, GatewayMetrics } from './metrics.ts'

it('counts requests by pattern and status, never by path', async () => {
  const metrics = new GatewayMetrics()
  const inner = new Hono().get('/ratchet/things/:id', (c) => c.text('x'))
  const app = new Hono()
    .use(countRequests(metrics))
    .get('/s/:session/v1/models', (c) => c.text('x', 201))
    .get('/fails', () => {
      throw new Error('x')
    })
    .route('/', inner)
    .onError((_, c) => c.text('no', 503))
  for (const path of ['/s/ann/v1/models', '/s/bob/v1/models', '/fails', '/ratchet/things/ann', '/ann.php', '/.env']) {
    await app.request(path)
  }
  const text = await metrics.registry.metrics()
  const counts = text.split('\n').filter((line) => line.startsWith('ratchet_http_requests_total'))
  expect(counts.toSorted()).toEqual(
    [
      'ratchet_http_requests_total{method="GET",route="/s/:session/v1/models",status="201"} 2',
      'ratchet_http_requests_total{method="GET",route="/fails",status="503"} 1',
      'ratchet_http_requests_total{method="GET",route="/ratchet/things/:id",status="200"} 1',
      'ratchet_http_requests_total{method="GET",route="unmatched",status="404"} 2',
    ].toSorted(),
  )
  expect(text).not.toContain('ann')
})
