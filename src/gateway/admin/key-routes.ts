import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import {
  ApiKey,
  ClientName,
  type Clock,
  KeyId,
  KeyLimits,
  type KeyRepository,
  Scope,
  type Tenant,
} from '../../core/index.ts'
import { answers, refuses } from '../answers.ts'
import { type AskedEnv, asking, type AskingOptions, type KeyDoorkeeper, newKey } from '../auth/index.ts'
import { GatewayError, refuseInvalid } from '../errors.ts'
import { posted } from '../http/posted.ts'
import { scopesOf } from './scopes.ts'

/** What the key routes need. */
export interface KeyRoutesOptions extends AskingOptions {
  readonly door: KeyDoorkeeper
  readonly keys: KeyRepository
  readonly clock: Clock
  /** What stands for a name that must not be written. */
  readonly redactName: (name: string, tenant: Tenant) => string
}

const KeyInput = z.strictObject({
  /** For people. */
  name: ClientName,
  scopes: scopesOf(Scope).default(['infer', 'signal']),
  /** Defaults for the calls made with it. */
  agent: ClientName.optional(),
  subject: ClientName.optional(),
  /** False forbids learning from anything that it sends. */
  train: z.boolean().default(true),
  limits: KeyLimits.partial().default({}),
  /** Never, by default. */
  expiresInSeconds: z.int().positive().max(3_200_000_000).optional(),
})

/** A key as it is shown: without the hash of its secret. */
const ShownKey = ApiKey.omit({ secretHash: true })

const params = z.object({ id: ClientName.pipe(KeyId) })

const Query = z.strictObject({
  /** Also the keys of sessions. */
  sessions: z.enum(['true', 'false']).default('false'),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
})

/**
 * `POST` and `GET /ratchet/keys`, `DELETE /ratchet/keys/{id}` (scope `admin`): the keys of the caller's tenant. An admin's
 * key makes, sees and revokes keys of its own tenant only; for another tenant, use the terminal.
 */
export function keyRoutes(options: KeyRoutesOptions): OpenAPIHono<AskedEnv> {
  const { door, keys, clock, redactName } = options
  const app = new OpenAPIHono<AskedEnv>({ defaultHook: refuseInvalid })
  const shared = { tags: ['keys'], middleware: [asking(options, 'admin')] }

  app.openapi(
    createRoute({
      ...shared,
      method: 'post',
      path: '/ratchet/keys',
      summary: 'Make a key',
      request: { body: posted(KeyInput) },
      responses: {
        201: answers('The key. Its token is shown this once.', z.object({ key: ShownKey, token: z.string() })),
        400: refuses('A key that cannot be.'),
      },
    }),
    async (c) => {
      const { expiresInSeconds, ...input } = c.req.valid('json')
      const now = clock.now()
      const { tenant } = c.var.caller
      const named = (name: string) => redactName(name, tenant)
      const { key, token } = newKey({
        name: named(input.name),
        tenant,
        scopes: input.scopes,
        agent: input.agent === undefined ? null : named(input.agent),
        subject: input.subject === undefined ? null : named(input.subject),
        train: input.train,
        limits: input.limits,
        expiresAt: expiresInSeconds === undefined ? null : now + expiresInSeconds * 1_000,
        now,
      })
      await keys.put(key)
      return c.json({ key: shown(key), token }, 201)
    },
  )

  app.openapi(
    createRoute({
      ...shared,
      method: 'get',
      path: '/ratchet/keys',
      summary: 'The keys, newest first',
      request: { query: Query },
      responses: { 200: answers('Without their secrets.', z.object({ keys: z.array(ShownKey) })) },
    }),
    async (c) => {
      const { sessions, limit } = c.req.valid('query')
      const filter = { tenant: c.var.caller.tenant, limit, ...(sessions === 'false' && { sessions: false }) }
      return c.json({ keys: (await keys.list(filter)).map(shown) }, 200)
    },
  )

  app.openapi(
    createRoute({
      ...shared,
      method: 'delete',
      path: '/ratchet/keys/{id}',
      summary: 'Revoke a key, and with it the sessions that it made',
      request: { params },
      responses: {
        200: answers('It works nowhere within seconds. Revoking again changes nothing.', z.object({ key: ShownKey })),
        404: refuses('There is none, or it is not yours.'),
      },
    }),
    async (c) => {
      const { id } = c.req.valid('param')
      const key = await keys.get(id)
      if (key === null || key.tenant !== c.var.caller.tenant) throw unknownKey()
      const now = clock.now()
      await keys.revoke(id, now)
      door.forget(id)
      return c.json({ key: shown({ ...key, revokedAt: key.revokedAt ?? now }) }, 200)
    },
  )
  return app
}

function shown(key: ApiKey): z.infer<typeof ShownKey> {
  const { secretHash: _, ...rest } = key
  return rest
}

function unknownKey(): GatewayError {
  return new GatewayError({
    status: 404,
    type: 'invalid_request_error',
    code: 'gateway/unknown-key',
    message: 'There is no such key.',
    hint: 'GET /ratchet/keys lists the ids; a token is not one.',
    param: 'id',
  })
}
