import { z } from 'zod'
import { KeyId } from './id.ts'
import { ClientName, Tenant } from './tenant.ts'

/**
 * What a key may do: ask models, send signals, read trajectories, judge what was drawn for the audit, or everything (keys,
 * erasure, other sessions).
 */
export const Scope = z.enum(['infer', 'signal', 'read', 'audit', 'admin'])
export type Scope = z.infer<typeof Scope>

/** What a key may use. `null`: as the gateway is configured. */
export const KeyLimits = z.strictObject({
  requestsPerMinute: z.int().positive().nullable(),
  /** Calls under way at once. */
  concurrency: z.int().positive().nullable(),
  bodyBytes: z.int().positive().nullable(),
})
export type KeyLimits = z.infer<typeof KeyLimits>

/** A client's key as it is kept: only a hash of its secret. */
export const ApiKey = z.strictObject({
  id: KeyId,
  tenant: Tenant,
  /** For people. */
  name: ClientName,
  /** SHA-256 of the secret, in hexadecimal. */
  secretHash: z.string().regex(/^[0-9a-f]{64}$/),
  scopes: z.array(Scope).min(1),
  /** A key made for one session: every call with it belongs there. */
  session: ClientName.nullable(),
  /** The key that made it, for a session: it counts only while that one does. */
  parent: KeyId.optional(),
  /** Defaults for the calls made with it. */
  agent: ClientName.nullable(),
  subject: ClientName.nullable(),
  /** False forbids learning from anything that it sends. */
  train: z.boolean(),
  limits: KeyLimits,
  createdAt: z.number(),
  expiresAt: z.number().nullable(),
  revokedAt: z.number().nullable(),
})
export type ApiKey = z.infer<typeof ApiKey>
