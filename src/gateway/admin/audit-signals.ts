import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { agentKey, ClientName, type Clock, type Store } from '../../core/index.ts'
import { Calibration } from '../../gate/index.ts'
import { calibrationOf, type PaidBy } from '../../release/index.ts'
import { answers } from '../answers.ts'
import { type AskedEnv, asking, type AskingOptions } from '../auth/index.ts'
import { refuseInvalid } from '../errors.ts'
import { mayDecide } from './release-refusals.ts'

/** What the route needs. */
export interface AuditSignalsOptions extends AskingOptions {
  readonly store: Pick<Store, 'audits' | 'canaries'>
  readonly clock: Clock
  /** By what an agent's rewards are paid, by its name. */
  readonly paidBy: (agent: string) => PaidBy
}

/** `GET /ratchet/agents/{agent}/audit/signals` (scopes `audit` and `admin`): how well each signal predicts the truth. */
export function auditSignals(options: AuditSignalsOptions): OpenAPIHono<AskedEnv> {
  const { store, clock, paidBy } = options
  const app = new OpenAPIHono<AskedEnv>({ defaultHook: refuseInvalid })
  app.openapi(
    createRoute({
      tags: ['audit'],
      middleware: [asking(options, 'audit'), mayDecide],
      method: 'get',
      path: '/ratchet/agents/{agent}/audit/signals',
      summary: 'How well each signal predicts the truth (scope admin)',
      request: { params: z.object({ agent: ClientName }) },
      responses: { 200: answers('By the labels of all audited canaries; empty without any.', Calibration) },
    }),
    async (c) => {
      const { agent } = c.req.valid('param')
      const key = agentKey(c.var.caller.tenant, agent)
      return c.json(await calibrationOf(store, key, paidBy(agent), clock.now()), 200)
    },
  )
  return app
}
