import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import {
  ClientName,
  defaultTenant,
  type Origin,
  type RecordedTrajectory,
  Reward,
  RunId,
  Signal,
  type SignalRepository,
  StopReason,
  type Tenant,
  Trajectory,
  type TrajectoryId,
  type TrajectoryRepository,
} from '../../core/index.ts'
import { answers, refuses } from '../answers.ts'
import { type AskedEnv, asking, type AskingOptions } from '../auth/index.ts'
import { GatewayError, refuseInvalid } from '../errors.ts'
import { OutsideTrajectoryId } from './signal-input.ts'

/** What the trajectory routes need. */
export interface TrajectoryRoutesOptions extends AskingOptions {
  readonly trajectories: Pick<TrajectoryRepository, 'get' | 'summaries'>
  readonly signals: Pick<SignalRepository, 'of'>
  /** What stands for a name that must not be written: names are looked up as they were written. */
  readonly redactName: (name: string, tenant: Tenant) => string
}

const Moment = z.coerce.number().int().nonnegative()

/** Unknown names are refused: a mistyped filter would answer with everything. */
const Query = z.strictObject({
  session: ClientName.optional(),
  agent: ClientName.optional(),
  subject: ClientName.optional(),
  run: ClientName.pipe(RunId).optional(),
  origin: z.enum(['rollout', 'traffic', 'import']).optional(),
  /** Of those that changed last at or after, and before; milliseconds since the epoch. */
  since: Moment.optional(),
  before: Moment.optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
})

const Summary = z.object({
  id: z.string(),
  origin: z.enum(['rollout', 'traffic', 'import']),
  tenant: z.string(),
  session: z.string().nullable(),
  agent: z.string().nullable(),
  subject: z.string().nullable(),
  train: z.boolean(),
  instruction: z.string(),
  stopReason: StopReason,
  startedAt: z.number(),
  updatedAt: z.number(),
  calls: z.number().nullable(),
  signals: z.number(),
})

const params = z.object({ id: OutsideTrajectoryId })

/**
 * `GET /ratchet/trajectories`, `/ratchet/trajectories/{id}` and `/ratchet/trajectories/{id}/signals` (scope `read`): what
 * was recorded, of the caller's tenant only. Another tenant's trajectory is as unknown as one that never was.
 */
export function trajectoryRoutes(options: TrajectoryRoutesOptions): OpenAPIHono<AskedEnv> {
  const { trajectories, signals, redactName } = options
  const app = new OpenAPIHono<AskedEnv>({ defaultHook: refuseInvalid })
  const shared = { method: 'get' as const, tags: ['trajectories'], middleware: [asking(options, 'read')] }

  /** @throws GatewayError 404. */
  async function ofTenant(id: TrajectoryId, tenant: Tenant): Promise<RecordedTrajectory> {
    const found = await trajectories.get(id)
    if (found !== null && tenantOf(found.trajectory.origin) === tenant) return found
    throw new GatewayError({
      status: 404,
      type: 'invalid_request_error',
      code: 'gateway/unknown-trajectory',
      message: 'There is no such trajectory.',
      hint: 'GET /ratchet/trajectories lists those that there are.',
      param: 'id',
    })
  }

  app.openapi(
    createRoute({
      ...shared,
      path: '/ratchet/trajectories',
      summary: 'Trajectories, latest change first',
      request: { query: Query },
      responses: {
        200: answers('What their columns tell, without their messages.', z.object({ trajectories: z.array(Summary) })),
        400: refuses('A filter that is not one.'),
      },
    }),
    async (c) => {
      const { session, agent, subject, run, origin, since, before, limit } = c.req.valid('query')
      const { tenant } = c.var.caller
      const found = await trajectories.summaries({
        tenant,
        limit,
        ...(session !== undefined && { session: redactName(session, tenant) }),
        ...(agent !== undefined && { agent: redactName(agent, tenant) }),
        ...(subject !== undefined && { subject: redactName(subject, tenant) }),
        ...(run !== undefined && { run }),
        ...(origin !== undefined && { origin }),
        ...(since !== undefined && { since }),
        ...(before !== undefined && { before }),
      })
      return c.json({ trajectories: [...found] }, 200)
    },
  )

  app.openapi(
    createRoute({
      ...shared,
      path: '/ratchet/trajectories/{id}',
      summary: 'One trajectory with its signals and what it earned',
      request: { params },
      responses: {
        200: answers(
          'The whole record.',
          z.object({ trajectory: Trajectory, reward: Reward, run: z.string().nullable(), signals: z.array(Signal) }),
        ),
        404: refuses('There is none, or it is not yours.'),
      },
    }),
    async (c) => {
      const { trajectory, reward, run } = await ofTenant(c.req.valid('param').id, c.var.caller.tenant)
      const evidence = await signals.of(trajectory.id)
      return c.json({ trajectory, reward, run, signals: [...evidence] }, 200)
    },
  )

  app.openapi(
    createRoute({
      ...shared,
      path: '/ratchet/trajectories/{id}/signals',
      summary: 'The signals of one trajectory, in the order in which they happened',
      request: { params },
      responses: {
        200: answers('Its evidence so far.', z.object({ signals: z.array(Signal) })),
        404: refuses('There is none, or it is not yours.'),
      },
    }),
    async (c) => {
      const { trajectory } = await ofTenant(c.req.valid('param').id, c.var.caller.tenant)
      return c.json({ signals: [...(await signals.of(trajectory.id))] }, 200)
    },
  )
  return app
}

/** Whose a trajectory is. What was made here belongs to whom everything belongs that nobody claims. */
function tenantOf(origin: Origin): Tenant {
  return origin.kind === 'rollout' ? defaultTenant : origin.tenant
}
