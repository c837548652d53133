import type { Log } from '../log.ts'
import { withoutSecrets } from './without-secrets.ts'

/** What takes out of a text what must not be written. */
export interface LogRedaction {
  readonly active: boolean
  redact(text: string): { readonly value: string }
}

/**
 * A log that goes through redaction: what it says of a failure may quote what a client or an upstream said. Without rules
 * it is the log as it is.
 */
export function redactedLog(log: Log, redaction: LogRedaction): Log {
  if (!redaction.active) return log
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return redaction.redact(value).value
    if (Array.isArray(value)) return value.map(clean)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, clean(field)]))
  }
  const at = (level: 'info' | 'warn' | 'error') => (fields: unknown, message?: string) => {
    if (typeof fields === 'object' && fields !== null) log[level](clean(withoutSecrets(fields)), message)
    else log[level](clean(fields))
  }
  return { info: at('info'), warn: at('warn'), error: at('error') }
}
