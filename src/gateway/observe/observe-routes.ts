import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import type { KeyRepository, Tenant } from '../../core/index.ts'
import { answers, refuses } from '../answers.ts'
import { notForTenants } from '../auth/index.ts'
import { refuseInvalid } from '../errors.ts'
import type { Doorkeeper } from '../ports.ts'
import { type Check, readiness, storeChecks } from './readiness.ts'
import type { GatewayTelemetry } from './telemetry.ts'

/** What the operator's routes need. */
export interface ObserveRoutesOptions {
  readonly door: Pick<Doorkeeper, 'identify'>
  readonly keys: Pick<KeyRepository, 'list'>
  readonly telemetry: Pick<GatewayTelemetry, 'metrics' | 'lastCommit'>
  /** Whoever runs the gateway: metrics are of all tenants together, and theirs alone. */
  readonly tenant: Tenant
  /** More that must be well, for example that an upstream answers. */
  readonly checks?: readonly Check[]
}

const Ready = z.object({
  status: z.enum(['ready', 'not-ready']),
  checks: z.record(z.string(), z.enum(['ok', 'failed', 'slow'])),
})

/**
 * `GET /healthz`: the process answers. `GET /readyz`: its store can be read and took the latest call. Neither asks for a
 * key nor says more than that. `GET /metrics` (scope `read`, once there are keys, of the gateway's own tenant): what
 * Prometheus scrapes.
 */
export function observeRoutes({ door, keys, telemetry, tenant, checks = [] }: ObserveRoutesOptions): OpenAPIHono {
  const { registry } = telemetry.metrics
  const ready = readiness([...storeChecks(keys, () => telemetry.lastCommit()), ...checks])
  const app = new OpenAPIHono({ defaultHook: refuseInvalid })
  const shared = { method: 'get' as const, tags: ['operation'] }

  app.openapi(
    createRoute({
      ...shared,
      path: '/healthz',
      summary: 'Whether the process answers',
      responses: { 200: answers('It does.', z.object({ status: z.literal('ok') })) },
    }),
    (c) => c.json({ status: 'ok' as const }, 200),
  )

  app.openapi(
    createRoute({
      ...shared,
      path: '/readyz',
      summary: 'Whether it should be sent requests',
      responses: { 200: answers('It should.', Ready), 503: answers('It should not, at the moment.', Ready) },
    }),
    async (c) => {
      const { ready: isReady, checks: results } = await ready()
      return isReady
        ? c.json({ status: 'ready' as const, checks: results }, 200)
        : c.json({ status: 'not-ready' as const, checks: results }, 503)
    },
  )

  app.openapi(
    createRoute({
      ...shared,
      path: '/metrics',
      summary: "Prometheus' metrics",
      responses: {
        200: { description: 'In the text format.', content: { 'text/plain': { schema: z.string() } } },
        401: refuses('Once there are keys, one with the scope `read` is needed.'),
        403: refuses("It has to be of the gateway's own tenant."),
      },
    }),
    async (c) => {
      const caller = await door.identify(c.req.raw.headers, 'read')
      if (caller.tenant !== tenant) throw notForTenants()
      return c.text(await registry.metrics(), 200, { 'content-type': registry.contentType })
    },
  )
  return app
}
