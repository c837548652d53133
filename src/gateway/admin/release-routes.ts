import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { agentKey, CanaryId, ClientName, type Clock, ReleaseId, type Store, type Tenant } from '../../core/index.ts'
import {
  agentNames,
  type AgentState,
  agentState,
  type CanaryRules,
  type Looked,
  nameWithin,
  NoCanaryError,
  overviewOf,
  Registry,
  shownCanary,
  stateOf,
} from '../../release/index.ts'
import { answers, refuses } from '../answers.ts'
import { type AskedEnv, asking, type AskingOptions } from '../auth/index.ts'
import { refuseInvalid } from '../errors.ts'
import { posted } from '../http/posted.ts'
import { AgentAnswer, CanaryAnswer, ReleaseAnswer, shownAgent, shownRelease } from './release-answers.ts'
import { answered, judgesNoCanaries, mayDecide, notShown, unknownAgent } from './release-refusals.ts'
import { tryByHand, TryRequest } from './try-request.ts'

/** What the release routes need. */
export interface ReleaseRoutesOptions extends AskingOptions {
  readonly store: Store
  readonly clock: Clock
  /** Takes out of a reason what must not be written. */
  readonly redact: (text: string) => string
  /** Told after every change, before it is answered: this process need not wait until it asks the store again. */
  readonly onServingChanged?: () => Promise<void>
  /** Looks at a canary and does what its gate says; without it, this gateway promotes none. */
  readonly look?: (canary: CanaryId) => Promise<Looked>
  /** By which rules an agent's canaries are judged, by its key; without it, this gateway starts none. */
  readonly rules?: (agent: string) => CanaryRules | null
}

const Id = ClientName

const params = z.object({ agent: ClientName })
const nothing = z.strictObject({})
const conflict = refuses('It cannot be now: the message says why.')
const missing = refuses('There is none, or it is not yours.')

/**
 * `GET /ratchet/agents` and `/ratchet/agents/{agent}/releases`; `POST …/try`, `…/rollback`, `…/promote`, `…/pin`, `…/unpin`
 * (scope `admin`, or this machine where no key is asked for): what serves the agents of the caller's tenant.
 */
export function releaseRoutes(options: ReleaseRoutesOptions): OpenAPIHono<AskedEnv> {
  const { store, clock, redact, look, rules, onServingChanged = () => Promise.resolve() } = options
  const registry = new Registry(store)
  const app = new OpenAPIHono<AskedEnv>({ defaultHook: refuseInvalid })
  const shared = { tags: ['releases'], middleware: [asking(options, 'read'), mayDecide] }
  const asked = <S extends z.ZodType>(schema: S) => ({ params, body: posted(schema) })

  /** @throws GatewayError 404. */
  async function state(tenant: Tenant, agent: string): Promise<AgentState> {
    const found = await agentState(store, agentKey(tenant, agent))
    if (!found) throw unknownAgent()
    return found
  }

  /** Carries a change out, and answers with the agent as it is then. */
  async function changed<T>(tenant: Tenant, agent: string, change: (key: string) => Promise<T>) {
    await state(tenant, agent)
    const result = await answered(change(agentKey(tenant, agent)))
    await onServingChanged()
    return { result, agent: shownAgent(await state(tenant, agent), agent) }
  }

  app.openapi(
    createRoute({
      ...shared,
      method: 'get',
      path: '/ratchet/agents',
      summary: 'The agents that have releases, and what serves them',
      responses: { 200: answers('By name.', z.object({ agents: z.array(AgentAnswer) })) },
    }),
    async (c) => {
      const { tenant } = c.var.caller
      const agents: z.infer<typeof AgentAnswer>[] = []
      for (const key of await agentNames(store)) {
        const name = nameWithin(tenant, key)
        if (name !== null) agents.push(shownAgent(await state(tenant, name), name))
      }
      return c.json({ agents }, 200)
    },
  )

  app.openapi(
    createRoute({
      ...shared,
      method: 'get',
      path: '/ratchet/agents/{agent}/releases',
      summary: "An agent's releases, newest first",
      request: { params },
      responses: {
        200: answers('With what serves.', AgentAnswer.extend({ releases: z.array(ReleaseAnswer) })),
        404: missing,
      },
    }),
    async (c) => {
      const { agent } = c.req.valid('param')
      const found = await overviewOf(store, agentKey(c.var.caller.tenant, agent))
      if (!found) throw unknownAgent()
      return c.json({ ...shownAgent(stateOf(found), agent), releases: found.releases.map(shownRelease) }, 200)
    },
  )

  app.openapi(
    createRoute({
      ...shared,
      method: 'post',
      path: '/ratchet/agents/{agent}/try',
      summary: 'Let a share of the sessions get a candidate that you put together',
      request: asked(TryRequest),
      responses: {
        200: answers(
          'The canary that runs, whether a learner is at work that looks at it, and the tools that what serves does not describe.',
          z.object({ agent: AgentAnswer, canary: CanaryAnswer, watched: z.boolean(), newTools: z.array(z.string()) }),
        ),
        404: missing,
        409: conflict,
      },
    }),
    async (c) => {
      const asked = c.req.valid('json')
      const at = clock.now()
      const { result, agent } = await changed(c.var.caller.tenant, c.req.valid('param').agent, async (key) => {
        const gate = rules?.(key)
        if (!gate) throw judgesNoCanaries()
        return tryByHand(store, key, asked, { gate, at })
      })
      const { canary, ...told } = result
      return c.json({ agent, canary: { ...shownCanary(canary), agent: agent.agent }, ...told }, 200)
    },
  )

  app.openapi(
    createRoute({
      ...shared,
      method: 'post',
      path: '/ratchet/agents/{agent}/rollback',
      summary: 'Go back: a canary that runs first, else to the release before',
      request: asked(z.strictObject({ release: Id.pipe(ReleaseId).optional() })),
      responses: {
        200: answers(
          'What was rolled back. Every gateway applies it within a second.',
          z.object({ agent: AgentAnswer, canary: CanaryAnswer.nullable() }),
        ),
        404: missing,
        409: conflict,
      },
    }),
    async (c) => {
      const { release } = c.req.valid('json')
      const { result, agent } = await changed(c.var.caller.tenant, c.req.valid('param').agent, (key) =>
        registry.goBack(key, release, clock.now()),
      )
      return c.json({ agent, canary: result.canary && { ...shownCanary(result.canary), agent: agent.agent } }, 200)
    },
  )

  app.openapi(
    createRoute({
      ...shared,
      method: 'post',
      path: '/ratchet/agents/{agent}/promote',
      summary: 'Ask the gate now whether the canary may serve everybody',
      request: asked(z.strictObject({ canary: Id.pipe(CanaryId).optional() })),
      responses: {
        200: answers('It serves everybody from now on.', z.object({ agent: AgentAnswer, canary: CanaryAnswer })),
        404: missing,
        409: refuses('The evidence does not say so; what it says was done, and is in the message.'),
      },
    }),
    async (c) => {
      const { canary: named } = c.req.valid('json')
      const { result, agent } = await changed(c.var.caller.tenant, c.req.valid('param').agent, async (key) => {
        const running = await registry.runningCanary(key)
        if (!running || (named !== undefined && named !== running.id)) throw new NoCanaryError(key)
        if (!look) throw judgesNoCanaries()
        const looked = await look(running.id)
        if (looked.canary.status !== 'promoted') throw refusalOf(looked)
        return looked
      })
      return c.json({ agent, canary: { ...shownCanary(result.canary), agent: agent.agent } }, 200)
    },
  )

  app.openapi(
    createRoute({
      ...shared,
      method: 'post',
      path: '/ratchet/agents/{agent}/pin',
      summary: 'Hold what serves: no gate changes it until it is let go of',
      request: asked(z.strictObject({ reason: z.string().max(512), release: Id.pipe(ReleaseId).optional() })),
      responses: {
        200: answers('The pin is in the agent.', z.object({ agent: AgentAnswer })),
        404: missing,
        409: conflict,
      },
    }),
    async (c) => {
      const { reason, release } = c.req.valid('json')
      const { agent } = await changed(c.var.caller.tenant, c.req.valid('param').agent, (key) =>
        registry.pin(key, redact(reason), { ...(release !== undefined && { release }), at: clock.now() }),
      )
      return c.json({ agent }, 200)
    },
  )

  app.openapi(
    createRoute({
      ...shared,
      method: 'post',
      path: '/ratchet/agents/{agent}/unpin',
      summary: 'Let go of what serves',
      request: asked(nothing),
      responses: {
        200: answers('Unpinning again changes nothing.', z.object({ agent: AgentAnswer, pinned: z.boolean() })),
        404: missing,
      },
    }),
    async (c) => {
      const { result, agent } = await changed(c.var.caller.tenant, c.req.valid('param').agent, (key) =>
        registry.unpin(key),
      )
      return c.json({ agent, pinned: result !== null }, 200)
    },
  )
  return app
}

/** Why a look did not promote. */
function refusalOf({ canary, verdict, waits }: Looked) {
  if (waits !== null) return notShown('wait', [waits])
  return verdict ? notShown(verdict.action, verdict.reasons) : notShown(canary.status, [canary.reason])
}
