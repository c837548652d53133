import { hash } from 'node:crypto'
import { InvariantError } from '../errors/index.ts'
import type { Json } from './json.ts'

/**
 * JSON text with sorted keys and no white space, so that equal values have equal text.
 * @throws InvariantError for what JSON would turn into something else (NaN, an infinity, undefined): different values
 * must never share an address.
 */
export function canonicalJson(value: Json): string {
  return isCanonical(value) ? JSON.stringify(value) : sorted(value)
}

/** Whether JSON has its text as it is: every object's keys are in order, and nothing would become something else. */
function isCanonical(value: Json): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return value !== undefined
  if (Array.isArray(value)) {
    for (const item of value) if (!isCanonical(item)) return false
    return true
  }
  const object = value as Readonly<Record<string, Json>>
  let before: string | null = null
  for (const key in object) {
    if ((before !== null && key < before) || !isCanonical(object[key] as Json)) return false
    before = key
  }
  return true
}

function sorted(value: Json): string {
  // Text grows piece by piece: every call of the gateway is hashed, and lists of pieces would be most of its garbage.
  if (Array.isArray(value)) {
    let items = ''
    for (const item of value) items += items === '' ? sorted(item) : `,${sorted(item)}`
    return `[${items}]`
  }
  if (typeof value === 'object' && value !== null) {
    const object = value as Readonly<Record<string, Json>>
    let members = ''
    for (const key of Object.keys(object).sort()) {
      if (members !== '') members += ','
      members += `${JSON.stringify(key)}:${sorted(object[key] as Json)}`
    }
    return `{${members}}`
  }
  if (value === undefined || (typeof value === 'number' && !Number.isFinite(value))) {
    throw new InvariantError(`${value} has no JSON text`)
  }
  return JSON.stringify(value)
}

/** Lower-case hexadecimal SHA-256 of bytes or of a string's UTF-8. */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content)
}

/** SHA-256 of a JSON value's canonical text: the address of everything that is addressed by content. */
export function contentHash(value: Json): string {
  return sha256(canonicalJson(value))
}
