import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { ClientName, type Clock, KeyLimits, type KeyRepository, type Scope, type Tenant } from '../../core/index.ts'
import { answers, refuses } from '../answers.ts'
import {
  type AskedEnv,
  asking,
  type AskingOptions,
  newKey,
  newSessionName,
  notForSessions,
  openKey,
  scopeMissing,
} from '../auth/index.ts'
import { refuseInvalid } from '../errors.ts'
import { posted } from '../http/posted.ts'
import { scopesOf } from './scopes.ts'
import type { Caller } from '../ports.ts'

/** What the session route needs. */
export interface SessionRoutesOptions extends AskingOptions {
  readonly keys: Pick<KeyRepository, 'get' | 'put'>
  readonly clock: Clock
  /** What stands for names that must not be written. */
  readonly redactName: (name: string, tenant: Tenant) => string
  readonly redactSession: (name: string, tenant: Tenant) => string
}

/** What the key of a session may at most do. */
const sessionScopes = ['infer', 'signal'] as const satisfies readonly Scope[]

type SessionScope = (typeof sessionScopes)[number]

const day = 86_400

const SessionInput = z.strictObject({
  /** The client's own name for the episode; a new one by default. */
  session: ClientName.optional(),
  /** Defaults for its calls; those of the caller's key by default. */
  agent: ClientName.optional(),
  subject: ClientName.optional(),
  /** False forbids learning from the session. What the caller's key forbids stays forbidden. */
  train: z.boolean().default(true),
  /** Of `infer` and `signal`; those of them that the caller has by default. */
  scopes: scopesOf(z.enum(sessionScopes)).optional(),
  /** Beside the limits of the caller's key, which hold for all its sessions together. */
  limits: KeyLimits.partial().default({}),
  /** How long the key works; never longer than the caller's. */
  expiresInSeconds: z
    .int()
    .min(1)
    .max(30 * day)
    .default(day),
})

const Session = z.object({
  session: z.string(),
  /** The key, shown this once. */
  token: z.string(),
  /** Its id, by which it can be revoked. */
  key: z.string(),
  scopes: z.array(z.enum(sessionScopes)),
  /** Milliseconds since the epoch. */
  expiresAt: z.number(),
})

/**
 * `POST /ratchet/sessions` (scope `infer`): a key for one episode, for agents that can be given a key and nothing else,
 * or for code that a user's own machine runs. Whoever may ask models may make one: it can do no more than its maker, in
 * the same tenant, in its own session only; its calls count for its maker's limits, and it ends with its maker's key.
 */
export function sessionRoutes(options: SessionRoutesOptions): OpenAPIHono<AskedEnv> {
  const { keys, clock, redactName, redactSession } = options
  const app = new OpenAPIHono<AskedEnv>({ defaultHook: refuseInvalid })
  const route = createRoute({
    method: 'post',
    path: '/ratchet/sessions',
    summary: 'Make a key for one session',
    tags: ['keys'],
    middleware: [asking(options, 'infer')],
    request: { body: posted(SessionInput) },
    responses: {
      201: answers('The key. Its token is shown this once.', Session),
      400: refuses('A session that cannot be.'),
      403: refuses('A session makes no sessions, and nobody hands out what they do not have.'),
    },
  })

  /** No longer than the key that makes it. */
  async function endFor(wanted: number, caller: Caller): Promise<number> {
    const parent = caller.key === openKey ? null : await keys.get(caller.key)
    return Math.min(wanted, parent?.expiresAt ?? wanted)
  }

  app.openapi(route, async (c) => {
    const caller = c.var.caller
    if (caller.session !== null) throw notForSessions('make sessions')
    const input = c.req.valid('json')
    const scopes = scopesFor(input.scopes, caller)
    const session = input.session ?? newSessionName()
    const now = clock.now()
    const expiresAt = await endFor(now + input.expiresInSeconds * 1_000, caller)
    const { tenant } = caller
    const named = (name: string | null) => (name === null ? null : redactName(name, tenant))
    const { key, token } = newKey({
      name: 'session',
      tenant,
      scopes,
      session: redactSession(session, tenant),
      ...(caller.key !== openKey && { parent: caller.key }),
      agent: named(input.agent ?? caller.agent),
      subject: named(input.subject ?? caller.subject),
      train: input.train && caller.train,
      limits: input.limits,
      expiresAt,
      now,
    })
    await keys.put(key)
    return c.json({ session, token, key: key.id, scopes, expiresAt }, 201)
  })
  return app
}

/** @throws GatewayError 403 for a scope that the caller does not have. */
function scopesFor(wanted: readonly SessionScope[] | undefined, { scopes }: Caller): SessionScope[] {
  const missing = wanted?.find((scope) => !scopes.has(scope))
  if (missing !== undefined) throw scopeMissing(missing, false)
  return [...new Set(wanted ?? sessionScopes.filter((scope) => scopes.has(scope)))]
}
