import { inspect } from 'node:util'
import { type ErrorDetails, RatchetError } from '../errors/index.ts'
import * as storeErrors from './errors/index.ts'
import { BusyError } from './sqlite-error.ts'

/** An error as plain data: classes do not survive the way between threads. */
export interface PlainError {
  /** Name of the class. */
  readonly name: string
  readonly message: string
  readonly stack: string
  /** `null` for what is not a RatchetError. */
  readonly details: Omit<ErrorDetails, 'message' | 'cause'> | null
  /** What its class adds, such as who holds a lock. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly cause: PlainError | null
}

/** Causes of causes beyond this are left out. */
const maxCauses = 4

/** @param depth how far down a chain of causes this is. */
export function plainErrorOf(error: unknown, depth = 0): PlainError {
  if (!(error instanceof Error)) {
    return { name: 'Error', message: inspect(error), stack: '', details: null, fields: {}, cause: null }
  }
  const { name, message, stack = '' } = error
  const cause = error.cause === undefined || depth === maxCauses ? null : plainErrorOf(error.cause, depth + 1)
  if (!RatchetError.is(error)) return { name, message, stack, details: null, fields: {}, cause }
  const { code, hint } = error
  const fields = Object.fromEntries(Object.entries(error).filter(([field]) => !everyError.has(field)))
  return { name, message, stack, details: { code, hint }, fields, cause }
}

/** Fields that every RatchetError has. */
const everyError = new Set(['name', 'code', 'hint'])

/** The error again, of the class that it had there. */
export function errorOf({ name, message, stack, details, fields, cause }: PlainError): Error {
  const error = details
    ? construct(name, { ...details, message, ...(cause && { cause: errorOf(cause) }) })
    : new Error(message, cause ? { cause: errorOf(cause) } : undefined)
  return Object.assign(error, fields, { name, stack })
}

/** Constructors take what their message is made of; here the message is there already, so the base class's is used. */
function construct(name: string, details: ErrorDetails): RatchetError {
  const kind = kinds.get(name)
  if (!kind) return new RatchetError(details)
  return Reflect.construct(RatchetError, [details], kind) as RatchetError
}

const kinds: ReadonlyMap<string, object & (abstract new (...args: never[]) => RatchetError)> = new Map(
  [...Object.values(storeErrors), BusyError].map((kind) => [kind.name, kind]),
)
