import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import {
  agentKey,
  type Audit,
  type AuditDraw,
  type AuditLabel,
  AuditSource,
  ClientName,
  type Clock,
  KeyId,
  type Store,
  type Tenant,
} from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { Agreement, agreementOf, JudgeBeside, judgeBeside, truthOf } from '../../gate/index.ts'
import { type AuditedCanary, auditedCanaries } from '../../release/index.ts'
import { answers, refuses } from '../answers.ts'
import { type AskedEnv, asking, type AskingOptions, notForSessions } from '../auth/index.ts'
import { refuseInvalid } from '../errors.ts'
import { posted } from '../http/posted.ts'
import type { Caller } from '../ports.ts'
import { closed, judgedElsewhere, notAudited, unknownDraw } from './audit-refusals.ts'
import { ShownDraws } from './audit-shown.ts'
import { blind, closedFor, nextFor, ReviewedMessage } from './audit-view.ts'
import { mayDecide } from './release-refusals.ts'

/** What the audit routes need. */
export interface AuditRoutesOptions extends AskingOptions {
  readonly store: Pick<Store, 'audits' | 'canaries' | 'receipts' | 'releases' | 'trajectories' | 'transaction'>
  readonly clock: Clock
  /** Takes out of a note what must not be written. */
  readonly redact: (text: string) => string
  /** What stands for a name that must not be written. */
  readonly redactName: (name: string, tenant: Tenant) => string
}

/** A canary with what was drawn of it. */
type Drawn = AuditedCanary & { readonly drawn: readonly AuditDraw[] }

const params = z.object({ agent: ClientName })
const Reviewer = ClientName.max(180).optional()
const nothing = refuses('Nothing of such an agent is audited.')

const Standing = z.object({
  canary: z.string(),
  by: AuditSource,
  share: z.number(),
  /** Sessions that were drawn, of which the truth is known, and that wait. */
  drawn: z.number(),
  settled: z.number(),
  waiting: z.number(),
})

const Agreed = Standing.extend({ ...Agreement.shape, judge: JudgeBeside.nullable() })

const OwnLabel = z.object({
  draw: z.string(),
  reviewer: z.string(),
  truth: z.number().nullable(),
  note: z.string(),
  at: z.number(),
  withdrawn: z.boolean(),
})

const Label = z.strictObject({
  draw: ClientName.max(64),
  /** Right or wrong, or from 0 to 1; `null` where it cannot be told. */
  truth: z.union([z.boolean(), z.number().min(0).max(1)]).nullable(),
  note: z.string().max(2_000).default(''),
  /** Which of the people behind the key judges. */
  reviewer: Reviewer,
})

/**
 * `GET /ratchet/agents/{agent}/audit`, `…/audit/next` and `…/audit/agreement`, `POST …/audit/labels` (scope `audit`) and
 * `POST /ratchet/audit/withdraw` (scope `admin`): sessions that were drawn are judged by people, who are not told their arm.
 */
export function auditRoutes(options: AuditRoutesOptions): OpenAPIHono<AskedEnv> {
  const { store, clock, redact, redactName } = options
  const app = new OpenAPIHono<AskedEnv>({ defaultHook: refuseInvalid })
  const shown = new ShownDraws()
  const shared = { tags: ['audit'], middleware: [asking(options, 'audit')] }

  /**
   * What may be judged: of the canary that runs, then of those that what serves came from.
   * @throws GatewayError 404.
   */
  async function audits({ tenant }: Caller, agent: string): Promise<readonly [Drawn, ...Drawn[]]> {
    const found = await auditedCanaries(store, agentKey(tenant, agent))
    const [first, ...others] = await Promise.all(
      found.map(async (one) => ({ ...one, drawn: await store.audits.drawn(one.canary.id) })),
    )
    if (!first) throw notAudited()
    return [first, ...others]
  }

  /** @throws GatewayError 404, 409. */
  async function byPeople(caller: Caller, agent: string): Promise<readonly [Drawn, ...Drawn[]]> {
    const found = await audits(caller, agent)
    const [first, ...others] = found.filter(({ audit }) => audit.by === 'person')
    if (!first) throw judgedElsewhere(found[0].audit)
    return [first, ...others]
  }

  /** @throws GatewayError 409 for a draw that the reviewer may not label. */
  function assertOpenTo(reviewer: string, draw: AuditDraw, audit: Audit): void {
    const why = closedFor(draw, audit, reviewer, clock.now())
    if (why !== null) throw closed(why)
  }

  function reviewerOf({ key, tenant, session }: Caller, named: string | undefined): string {
    if (session !== null) throw notForSessions('judge sessions')
    return named === undefined ? key : ClientName.parse(`${key}:${redactName(named, tenant)}`)
  }

  app.openapi(
    createRoute({
      ...shared,
      method: 'get',
      path: '/ratchet/agents/{agent}/audit',
      summary: 'Where the audit stands, and what the caller said in it',
      request: { params },
      responses: {
        200: answers('Labels of the caller’s key.', Standing.extend({ labels: z.array(OwnLabel) })),
        404: nothing,
      },
    }),
    async (c) => {
      const { caller } = c.var
      const found = await audits(caller, c.req.valid('param').agent)
      const said = found.flatMap(({ drawn }) => drawn).flatMap(({ labels }) => labels)
      const own = said.filter((label) => isOf(label, caller.key))
      return c.json({ ...standingOf(found[0], clock.now()), labels: own.map(shownLabel) }, 200)
    },
  )

  app.openapi(
    createRoute({
      ...shared,
      method: 'get',
      path: '/ratchet/agents/{agent}/audit/next',
      summary: 'The next session that is to be judged, without what tells its arm',
      request: { params, query: z.strictObject({ reviewer: Reviewer, after: ClientName.optional() }) },
      responses: {
        200: answers(
          '`draw` is `null` where this reviewer has nothing to judge. Reviewers who ask at a time get different draws.',
          Standing.extend({
            draw: z.object({ id: z.string(), messages: z.array(ReviewedMessage) }).nullable(),
          }),
        ),
        404: nothing,
        409: refuses('People judge nothing of it.'),
      },
    }),
    async (c) => {
      const { caller } = c.var
      const { reviewer, after } = c.req.valid('query')
      const found = await byPeople(caller, c.req.valid('param').agent)
      const asked = { reviewer: reviewerOf(caller, reviewer), after, now: clock.now(), shown }
      // One that was passed over is of one canary: draws of those before it have been passed over, too.
      const passed = found.findIndex(({ drawn }) => drawn.some(({ id }) => id === after))
      const from = found.slice(Math.max(passed, 0))
      const open = from.map((one) => ({ one, next: nextFor(one.drawn, one.audit, asked) }))
      const { one, next } = open.find((some) => some.next !== null) ?? { one: found[0], next: null }
      if (next) shown.note(next.id, asked.reviewer, asked.now)
      const recorded = next && (await store.trajectories.get(next.trajectory))
      const draw = next && { id: next.id, messages: recorded ? [...blind(recorded.trajectory)] : [] }
      return c.json({ ...standingOf(one, clock.now()), draw }, 200)
    },
  )

  app.openapi(
    createRoute({
      ...shared,
      method: 'post',
      path: '/ratchet/agents/{agent}/audit/labels',
      summary: 'Say whether a session that was drawn went right',
      request: { params, body: posted(Label) },
      responses: {
        200: answers(
          'The last word of a reviewer counts; saying it again changes nothing.',
          z.object({ outcome: z.enum(['recorded', 'repeated', 'changed']) }),
        ),
        404: refuses('There is no such draw.'),
        409: refuses('People judge nothing of it; or its truth is known; or it has as many labels as it may.'),
      },
    }),
    async (c) => {
      const { caller } = c.var
      const { draw: id, truth, note, reviewer: named } = c.req.valid('json')
      const reviewer = reviewerOf(caller, named)
      const found = await audits(caller, c.req.valid('param').agent)
      const judged = found.find(({ drawn }) => drawn.some((draw) => draw.id === id))
      const draw = judged?.drawn.find((one) => one.id === id)
      if (!judged || !draw) throw unknownDraw()
      if (judged.audit.by !== 'person') throw judgedElsewhere(judged.audit)
      assertOpenTo(reviewer, draw, judged.audit)
      const { tenant } = caller
      const said = { tenant, draw: id, reviewer, by: 'person', at: clock.now() } as const
      const told = truth === null ? null : Number(truth)
      const label = { ...said, truth: told, note: redact(note).slice(0, 2_000) }
      const outcome = await store.transaction(async (tx) => {
        const outcome = await tx.audits.label(label)
        if (outcome !== 'recorded') return outcome
        // The draw is held from here on. Others may have judged it since it was looked at.
        const held = present(await tx.audits.get(id), `draw ${id}`)
        const others = held.labels.filter((one) => one.reviewer !== reviewer)
        assertOpenTo(reviewer, { ...held, labels: others }, judged.audit)
        return outcome
      })
      return c.json({ outcome }, 200)
    },
  )

  app.openapi(
    createRoute({
      ...shared,
      middleware: [asking(options, 'audit'), mayDecide],
      method: 'get',
      path: '/ratchet/agents/{agent}/audit/agreement',
      summary: 'How reviewers agree (scope admin)',
      request: { params },
      responses: {
        200: answers(
          'Who said most first; beyond 20 reviewers, `others` counts them. `judge`: its words beside the truth.',
          Agreed,
        ),
        404: nothing,
      },
    }),
    async (c) => {
      const [found] = await audits(c.var.caller, c.req.valid('param').agent)
      const now = clock.now()
      const judge = judgeBeside(found.drawn, found.audit, now)
      return c.json({ ...standingOf(found, now), ...agreementOf(found.drawn, found.audit), judge }, 200)
    },
  )

  app.openapi(
    createRoute({
      ...shared,
      middleware: [asking(options, 'audit'), mayDecide],
      method: 'post',
      path: '/ratchet/audit/withdraw',
      summary: 'Take back all labels of a key, as one that was stolen (scope admin)',
      request: { body: posted(z.strictObject({ key: ClientName.pipe(KeyId) })) },
      responses: { 200: answers('What rested on them is looked at again.', z.object({ withdrawn: z.number() })) },
    }),
    async (c) => {
      const { key } = c.req.valid('json')
      const { tenant } = c.var.caller
      return c.json({ withdrawn: await store.audits.withdraw({ tenant, key, at: clock.now() }) }, 200)
    },
  )
  return app
}

function standingOf({ canary, audit, drawn }: Drawn, now: number) {
  const settled = drawn.filter((draw) => truthOf(draw, audit, now).settled).length
  const { by, share } = audit
  return { canary: canary.id, by, share, drawn: drawn.length, settled, waiting: drawn.length - settled }
}

const isOf = ({ reviewer }: AuditLabel, key: string) => reviewer === key || reviewer.startsWith(`${key}:`)

function shownLabel({ draw, reviewer, truth, note, at, withdrawnAt }: AuditLabel): z.infer<typeof OwnLabel> {
  return { draw, reviewer, truth, note, at, withdrawn: withdrawnAt !== null }
}
