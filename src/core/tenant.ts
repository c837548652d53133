import { z } from 'zod'
import { ServedBy } from './canary.ts'
import { sha256 } from './hash.ts'

/** Text that names something of the client's: printable, so that it can be logged, shown and stored anywhere. */
export const ClientName = z
  .string()
  .min(1)
  // Eight million characters are not looked through for one that cannot be printed.
  .max(256, { abort: true })
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'printable characters only')

/** Whose data it is. Tenants never see, match or train on each other. */
export const Tenant = z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/, 'letters, digits, ".", "_" or "-"; at most 64')
export type Tenant = z.infer<typeof Tenant>

/** The tenant of whoever names none. */
export const defaultTenant: Tenant = 'default'

/**
 * The name that an agent's releases, runs and alerts go by: its own, and of another tenant than the default one with the
 * tenant before it. Two agents of two tenants never share one.
 */
export function agentKey(tenant: Tenant, agent: string): string {
  return tenant === defaultTenant && !agent.includes('/') ? agent : `${tenant}/${agent}`
}

/**
 * What stands for a person in what was learned from them, and among the erasures: who does not know the name can only
 * guess it.
 * @param subject as it is stored.
 */
export function subjectMark(tenant: Tenant, subject: string): string {
  return sha256(JSON.stringify(['erased', tenant, subject])).slice(0, 32)
}

/** An agent's traffic, as the gateway saw it. */
export const TrafficOrigin = z.strictObject({
  kind: z.literal('traffic'),
  tenant: Tenant,
  /**
   * Id of the API key that made the first call, after a session's the key that made it (`parent:key`); `open` where the
   * gateway asks for none.
   */
  key: z.string().min(1),
  /** The client's own name for the episode; `null` where it was recognised by its messages. */
  session: ClientName.nullable(),
  /** The agent that the client named. */
  agent: ClientName.nullable(),
  /**
   * The person that it is about, as the client names them; of several, the first. `ratchet erase` goes by all of them.
   */
  subject: ClientName.nullable(),
  /** False when the client forbade learning from it, in any of its calls. */
  train: z.boolean(),
  /** What served it when it began; `null` for an agent that has no releases. */
  servedBy: ServedBy.nullable().default(null),
})
export type TrafficOrigin = z.infer<typeof TrafficOrigin>
