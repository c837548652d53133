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
  OneAtATime,
  turns,
} from '../../core/index.ts'
import { answers, refuses } from '../answers.ts'
import { type AskedEnv, asking, type AskingOptions } from '../auth/index.ts'
import { GatewayError, refuseInvalid } from '../errors.ts'
import type { BodyRoom } from '../http/body-room.ts'
import { refusal } from '../http/refusals.ts'
import { OutsideTrajectoryId } from './signal-input.ts'

/** What the trajectory routes need. */
export interface TrajectoryRoutesOptions extends AskingOptions {
  readonly trajectories: Pick<TrajectoryRepository, 'get' | 'size' | 'summaries'>
  readonly signals: Pick<SignalRepository, 'page'>
  /** What stands for a name that must not be written: names are looked up as they were written. */
  readonly redactName: (name: string, tenant: Tenant) => string
  readonly redactSession: (name: string, tenant: Tenant) => string
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

/** Bytes of a trajectory in one answer, and of the signals of a page, as they are stored. */
const mostBytes = 16 * 1024 * 1024
const mostSignalBytes = 4 * 1024 * 1024
/** One of so many bytes is read when no other is. */
const largeBytes = 1024 * 1024

const PageQuery = z.strictObject({
  /** `next` of the page before. */
  after: z.string().max(512).optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(1_000),
})

/** A page of signals, in the order in which they happened. */
const Evidence = z.object({
  signals: z.array(Signal),
  /** What to ask for the next page by; `null` after the last. */
  next: z.string().nullable(),
})

function readMark(text: string): { readonly at: number; readonly key: string } {
  const [, at, key] = /^(-?\d{1,16}):(.+)$/s.exec(text) ?? []
  if (at !== undefined && key !== undefined) return { at: Number(at), key }
  throw refusal('bad-page', 'There is no such page of signals.', 'Send `next` of the page before, unchanged.', {
    param: 'after',
  })
}

const unknownTrajectory = () =>
  new GatewayError({
    status: 404,
    type: 'invalid_request_error',
    code: 'gateway/unknown-trajectory',
    message: 'There is no such trajectory.',
    hint: 'GET /ratchet/trajectories lists those that there are.',
    param: 'id',
  })

const trajectoryTooLarge = (bytes: number) =>
  refusal(
    'trajectory-too-large',
    `The trajectory has ${bytes} bytes, and one answer has at most ${mostBytes}.`,
    'Read it where the store is: `ratchet show ID`, or `ratchet export`. Its signals come in pages: …/signals.',
    { status: 413, param: 'id' },
  )

/**
 * `GET /ratchet/trajectories`, `/ratchet/trajectories/{id}` and `/ratchet/trajectories/{id}/signals` (scope `read`): what
 * was recorded, of the caller's tenant only. Another tenant's trajectory is as unknown as one that never was.
 */
export function trajectoryRoutes(options: TrajectoryRoutesOptions): OpenAPIHono<AskedEnv> {
  const { trajectories, signals, redactName, redactSession } = options
  const app = new OpenAPIHono<AskedEnv>({ defaultHook: refuseInvalid })
  const shared = { method: 'get' as const, tags: ['trajectories'], middleware: [asking(options, 'read')] }

  /** Many large ones that come back from the store together would keep everybody else waiting. */
  const large = new OneAtATime()

  /**
   * Answers with a trajectory, or with a part of it.
   * @throws GatewayError 404; 413 for one that is too large for one answer; 429 when there is no room for it.
   */
  async function ofTenant<T>(
    id: TrajectoryId,
    { tenant, room }: { readonly tenant: Tenant; readonly room: BodyRoom },
    tell: (found: RecordedTrajectory) => Promise<T>,
  ): Promise<T> {
    const size = await trajectories.size(id)
    if (size?.tenant !== tenant) throw unknownTrajectory()
    const { bytes } = size
    if (bytes > mostBytes) throw trajectoryTooLarge(bytes)
    const read = async () => {
      const found = await trajectories.get(id)
      if (found === null || tenantOf(found.trajectory.origin) !== tenant) throw unknownTrajectory()
      await turns.next(bytes)
      return tell(found)
    }
    if (bytes < largeBytes) return read()
    room.take(bytes)
    return large.run(read)
  }

  /** @throws GatewayError 400 for a mark that is none. */
  async function pageOf(
    id: TrajectoryId,
    { limit, after }: z.infer<typeof PageQuery>,
    room: BodyRoom,
  ): Promise<z.infer<typeof Evidence>> {
    const from = after === undefined ? {} : { after: readMark(after) }
    const { signals: some, more } = await large.run(() => signals.page(id, { ...from, limit, bytes: mostSignalBytes }))
    room.take(some.reduce((bytes, { value }) => bytes + JSON.stringify(value).length, 0))
    const last = some.at(-1)
    return { signals: [...some], next: more && last ? `${last.at}:${last.key}` : null }
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
        ...(session !== undefined && { session: redactSession(session, tenant) }),
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
          Evidence.extend({ trajectory: Trajectory, reward: Reward, run: z.string().nullable() }),
        ),
        404: refuses('There is none, or it is not yours.'),
        413: refuses('It is too large for one answer.'),
      },
    }),
    async (c) => {
      const { id } = c.req.valid('param')
      const { room, caller } = c.var
      const evidence = await pageOf(id, { limit: 1_000 }, room)
      return ofTenant(id, { tenant: caller.tenant, room }, async ({ trajectory, reward, run }) =>
        c.json({ trajectory, reward, run, ...evidence }, 200),
      )
    },
  )

  app.openapi(
    createRoute({
      ...shared,
      path: '/ratchet/trajectories/{id}/signals',
      summary: 'The signals of one trajectory, in the order in which they happened',
      request: { params, query: PageQuery },
      responses: {
        200: answers('Its evidence so far, a page of it.', Evidence),
        400: refuses('A page that is none.'),
        404: refuses('There is none, or it is not yours.'),
      },
    }),
    async (c) => {
      const { id } = c.req.valid('param')
      if ((await trajectories.size(id))?.tenant !== c.var.caller.tenant) throw unknownTrajectory()
      return c.json(await pageOf(id, c.req.valid('query'), c.var.room), 200)
    },
  )
  return app
}

/** Whose a trajectory is. What was made here belongs to whom everything belongs that nobody claims. */
function tenantOf(origin: Origin): Tenant {
  return origin.kind === 'rollout' ? defaultTenant : origin.tenant
}
