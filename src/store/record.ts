import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { CorruptRecordError, RecordConflictError, UnstorableValueError } from './errors/index.ts'

/**
 * The JSON text of a value, exactly: what reads back is equal.
 * @param what is being stored, for the error.
 * @throws UnstorableValueError for what JSON would silently change, such as NaN or a typed array.
 */
export function toJson(value: unknown, what: string): string {
  assertStorable(value, what, [])
  return JSON.stringify(value)
}

function assertStorable(value: unknown, what: string, path: (string | number)[]): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return
  if (typeof value === 'number' && Number.isFinite(value)) return
  if (typeof value !== 'object' || ArrayBuffer.isView(value)) {
    const shown = typeof value === 'number' ? String(value) : Object.prototype.toString.call(value)
    throw new UnstorableValueError(what, path.join('.') || 'it', shown)
  }
  const items: Iterable<[string | number, unknown]> = Array.isArray(value) ? value.entries() : Object.entries(value)
  for (const [key, item] of items) {
    // An absent property and an undefined one are the same record; a hole in a list is not.
    if (item === undefined && !Array.isArray(value)) continue
    path.push(key)
    assertStorable(item, what, path)
    path.pop()
  }
}

/**
 * Parses a stored JSON text.
 * @throws CorruptRecordError when it is not JSON.
 */
export function fromJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CorruptRecordError(what, 'a column does not hold JSON.', error)
  }
}

/**
 * Parses a record put together from its columns: nothing leaves the store unchecked.
 * @throws CorruptRecordError when it does not have its schema's shape.
 */
export function parseRecord<S extends z.ZodType>(schema: S, candidate: unknown, what: string): z.infer<S> {
  const parsed = schema.safeParse(candidate)
  if (!parsed.success) throw new CorruptRecordError(what, z.prettifyError(parsed.error), parsed.error)
  return parsed.data
}

/**
 * Holds that a record written once is written with equal content (order of keys does not count).
 * @throws RecordConflictError when it is not.
 */
export function assertSame(stored: unknown, given: unknown, what: string): void {
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
  if (!isDeepStrictEqual(plain(stored), plain(given))) throw new RecordConflictError(what)
}
