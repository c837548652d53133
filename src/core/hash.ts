import { createHash } from 'node:crypto'
import { InvariantError } from '../errors/index.ts'
import type { Json } from './json.ts'

/**
 * JSON text with sorted keys and no white space, so that equal values have equal text.
 * @throws InvariantError for what JSON would turn into something else (NaN, an infinity, undefined): different values
 * must never share an address.
 */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`
  }
  if (value === undefined || (typeof value === 'number' && !Number.isFinite(value))) {
    throw new InvariantError(`${value} has no JSON text`)
  }
  return JSON.stringify(value)
}

/** Lower-case hexadecimal SHA-256 of bytes or of a string's UTF-8. */
export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** SHA-256 of a JSON value's canonical text: the address of everything that is addressed by content. */
export function contentHash(value: Json): string {
  return sha256(canonicalJson(value))
}
