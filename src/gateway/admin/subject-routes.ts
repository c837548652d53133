import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { ClientName, type Clock, type Removal, type TrajectoryRepository } from '../../core/index.ts'
import { answers, refuses } from '../answers.ts'
import { type AskedEnv, asking, type AskingOptions } from '../auth/index.ts'
import { refuseInvalid } from '../errors.ts'
import { eraseSubject } from './erase-subject.ts'

/** What the subject route needs. */
export interface SubjectRoutesOptions extends AskingOptions {
  readonly trajectories: Pick<TrajectoryRepository, 'remove'>
  readonly clock: Clock
  /** Told after an erasure: what was kept in memory of the store is out of date. */
  readonly onErased: () => void
}

const params = z.object({ subject: ClientName })

const Query = z.strictObject({
  /** Only counts what would go. */
  dryRun: z.enum(['true', 'false']).default('false'),
})

const Erased = z.object({
  dryRun: z.boolean(),
  /** What went, or would go. */
  removed: z.object({ trajectories: z.number(), signals: z.number(), derived: z.number(), keys: z.number() }),
  /**
   * Where bytes of it still are in the database's own files: `nowhere`; `log`, as somebody reads: erase again later; or
   * PostgreSQL's `dead-rows`.
   */
  remains: z.enum(['nowhere', 'log', 'dead-rows']),
  /** What stays, and why. */
  cannotBeUndone: z.object({
    /** Versions that were learned from what went: their values cannot be unlearned. */
    versions: z.array(z.string()),
    explanation: z.string(),
  }),
})

/**
 * `DELETE /ratchet/subjects/{subject}` (scope `admin`): removes what was recorded of a person, in the caller's tenant.
 * Calls about them that are under way end with an error and are not recorded. There is no way back; `?dryRun=true` says
 * first what would go.
 */
export function subjectRoutes(options: SubjectRoutesOptions): OpenAPIHono<AskedEnv> {
  const { trajectories, clock, onErased } = options
  const app = new OpenAPIHono<AskedEnv>({ defaultHook: refuseInvalid })
  const route = createRoute({
    method: 'delete',
    path: '/ratchet/subjects/{subject}',
    summary: "Erase a person's data",
    tags: ['privacy'],
    middleware: [asking(options, 'admin')],
    request: { params, query: Query },
    responses: {
      200: answers('What was removed, and what cannot be. Erasing again removes nothing.', Erased),
      400: refuses('A subject that cannot be.'),
    },
  })
  app.openapi(route, async (c) => {
    const { subject } = c.req.valid('param')
    const dryRun = c.req.valid('query').dryRun === 'true'
    const removal = await eraseSubject(trajectories, c.var.caller.tenant, subject, { dryRun, now: clock.now() })
    if (!dryRun) onErased()
    return c.json(erased(removal, dryRun), 200)
  })
  return app
}

function erased(removal: Removal, dryRun: boolean): z.infer<typeof Erased> {
  const { trajectories, signals, derived, keys, versions, remains } = removal
  const learned =
    versions.length === 0
      ? 'No version was learned from it.'
      : `${versions.length} ${versions.length === 1 ? 'version was' : 'versions were'} learned from it: roll back to a release without, or learn anew.`
  return {
    dryRun,
    removed: { trajectories, signals, derived, keys },
    remains,
    cannotBeUndone: {
      versions: [...versions],
      explanation: `${learned} Trajectories that were about others, too, go whole. Not reached: backups, exports, API keys that carry the name, and what an upstream keeps.`,
    },
  }
}
