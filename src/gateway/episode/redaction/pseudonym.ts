import { sha256, type Tenant } from '../../../core/index.ts'
import type { Redaction } from './redaction.ts'

/**
 * What stands for a name that must not be written: the same for the same name of the same tenant, so that a session or a
 * person remains one, and can be found (and erased) by whoever knows the name. Who does not can only guess it.
 */
export function pseudonymOf(tenant: Tenant, name: string): string {
  return `redacted-${sha256(JSON.stringify(['name', tenant, name])).slice(0, 24)}`
}

/** A session's, an agent's or a person's name as it may be written. */
export function redactName(name: string, tenant: Tenant, redaction: Redaction): string {
  return redaction.redact(name).changed ? pseudonymOf(tenant, name) : name
}
