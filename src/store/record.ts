import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { jsonInParts } from '../core/index.ts'
import { CorruptRecordError, RecordConflictError, UnstorableValueError } from './errors/index.ts'

/**
 * The JSON text of a value, exactly: what reads back is equal.
 * @param what is being stored, for the error.
 * @throws UnstorableValueError for what JSON would silently change, such as NaN or a typed array.
 */
export function toJson(value: unknown, what: string): string {
  assertStorable(value, what)
  return JSON.stringify(value)
}

/** The same of a value that may be large: in parts, between which others are served. */
export async function toJsonInParts(value: unknown, what: string): Promise<string> {
  assertStorable(value, what)
  return jsonInParts(value)
}

function assertStorable(value: unknown, what: string): void {
  const problem = problemIn(value)
  if (problem) throw new UnstorableValueError(what, problem.path.join('.') || 'it', problem.shown)
}

/** The first value in a record that JSON cannot hold, and the way to it. */
interface Problem {
  readonly path: (string | number)[]
  readonly shown: string
}

/** The way is put together on the way back, when there is a problem: most of a record is numbers, and fine. */
function problemIn(value: unknown): Problem | null {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return null
  if (typeof value === 'number' && Number.isFinite(value)) return null
  if (typeof value !== 'object' || ArrayBuffer.isView(value)) {
    return { path: [], shown: typeof value === 'number' ? String(value) : Object.prototype.toString.call(value) }
  }
  // By index, so that a hole in a list counts as what it is.
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const problem = problemIn(value[i])
      if (problem) return at(i, problem)
    }
    return null
  }
  for (const key in value) {
    // An absent property and an undefined one are the same record.
    const item: unknown = value[key as keyof typeof value]
    const problem = item === undefined ? null : problemIn(item)
    if (problem) return at(key, problem)
  }
  return null
}

function at(key: string | number, { path, shown }: Problem): Problem {
  return { path: [key, ...path], shown }
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
  if (!isSame(stored, given)) throw new RecordConflictError(what)
}

/** Whether two records have equal content (order of keys does not count). */
export function isSame(stored: unknown, given: unknown): boolean {
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
  return isDeepStrictEqual(plain(stored), plain(given))
}
