import type { Json } from '../../../core/index.ts'
import { isBytes, redactEncoded } from './bytes.ts'
import type { Redacted, Redaction } from './redacted.ts'

/**
 * A JSON value as it may be written: every string in it, keys too, and every whole number that reads like something that
 * must not be written (a card's, a telephone's). Bytes in text form that are no text are left as they are: rules are about
 * words, and what a picture shows they cannot see.
 */
export function redactJson(value: Json, redaction: Redaction): Redacted<Json> {
  if (typeof value === 'string') return redactString(value, redaction)
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || Math.abs(value) < 1_000_000) return { value, changed: false }
    const text = redaction.redact(String(value))
    return text.changed ? text : { value, changed: false }
  }
  if (value === null || typeof value === 'boolean') return { value, changed: false }
  if (isList(value)) return redactList(value, (item) => redactJson(item, redaction))
  return redactObject(value, redaction)
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)

function redactString(value: string, redaction: Redaction): Redacted<string> {
  return isBytes(value) ? redactEncoded(value, (text) => redaction.redact(text)) : redaction.redact(value)
}

/** Each item as it may be written; the list itself when nothing changes. */
export function redactList<T>(items: readonly T[], redact: (item: T) => Redacted<T>): Redacted<readonly T[]> {
  const redacted = items.map(redact)
  if (!redacted.some(({ changed }) => changed)) return { value: items, changed: false }
  return { value: redacted.map(({ value }) => value), changed: true }
}

/** An object of JSON values as it may be written. Keys that become the same are told apart by a number. */
export function redactObject<T extends Readonly<Record<string, Json>>>(object: T, redaction: Redaction): Redacted<T> {
  let changed = false
  const entries = new Map<string, Json>()
  for (const [key, item] of Object.entries(object)) {
    const name = redaction.redact(key)
    const value = redactJson(item, redaction)
    changed ||= name.changed || value.changed
    let free = name.value
    for (let i = 2; entries.has(free); i += 1) free = `${name.value}-${i}`
    entries.set(free, value.value)
  }
  // `fromEntries` makes own properties of every key, `__proto__` too.
  return changed ? { value: Object.fromEntries(entries) as T, changed } : { value: object, changed }
}
