import { sha256, type Tenant } from '../../../core/index.ts'
import type { Redacted, Redaction } from './redacted.ts'

const digits = 24
const pseudonym = /^redacted-([0-9a-f]{24})$/

const standIn = (what: readonly string[]) => `redacted-${sha256(JSON.stringify(what)).slice(0, digits)}`

/**
 * What stands for a name that must not be written: the same for the same name of the same tenant, so that a person or an
 * agent remains one, and can be found (and erased) by whoever knows the name. Who does not can only guess it.
 */
export function pseudonymOf(tenant: Tenant, name: string): string {
  return standIn(['name', tenant, name])
}

/**
 * What stands for a session's name. It holds the digits of the session's trajectory, which has no other way to its name:
 * so a key that was made for the session leads there without the name.
 */
export function sessionPseudonym(tenant: Tenant, session: string): string {
  return standIn(['session', tenant, session])
}

/** The digits of a name's stand-in; `null` for any other name. */
export function pseudonymDigits(name: string): string | null {
  return pseudonym.exec(name)?.[1] ?? null
}

/** Whether a name must not be written. What stands for one may. */
function isHidden(name: string, redaction: Redaction): boolean {
  if (!redaction.active || pseudonymDigits(name) !== null || redaction.keeps(name)) return false
  return redaction.redact(name).changed
}

/** An agent's or a person's name as it may be written. */
export function redactName(name: string, tenant: Tenant, redaction: Redaction): string {
  return isHidden(name, redaction) ? pseudonymOf(tenant, name) : name
}

/** A session's name as it may be written. */
export function redactSession(name: string, tenant: Tenant, redaction: Redaction): string {
  return isHidden(name, redaction) ? sessionPseudonym(tenant, name) : name
}

/**
 * A name or an id that tells what belongs together (of a tool, a call of it, a model, an answer) as it may be written: what
 * is the same remains the same, and what is not does not become it.
 */
export function redactId(id: string, redaction: Redaction): Redacted<string> {
  return isHidden(id, redaction) ? { value: standIn(['id', id]), changed: true } : { value: id, changed: false }
}
