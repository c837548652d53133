import { DatabaseError } from 'pg'
import {
  AccessDeniedError,
  ConnectionLostError,
  ContentionError,
  CorruptStoreError,
  DiskFullError,
  MissingDatabaseError,
  ReadOnlyStoreError,
  StoreError,
  TimedOutError,
  TooManyConnectionsError,
  UnknownReferenceError,
  UnreachableStoreError,
} from './errors/index.ts'

/** What the driver says when every connection of the pool stayed in use; it has no code. */
const poolExhausted = 'timeout exceeded when trying to connect'
/** What the driver says of an answer that did not come; it has no code. */
const noAnswer = 'Query read timeout'

/** What a failure to connect means for the database called `name`. */
export function connectErrorOf(error: unknown, name: string): StoreError {
  if (error instanceof StoreError) return error
  if (error instanceof DatabaseError) return serverErrorOf(error, name)
  const problem = problemOf(error)
  if (problem === poolExhausted) return new TooManyConnectionsError(name, 'all of this process are in use', error)
  if (problem.startsWith('SASL')) return new AccessDeniedError(name, problem, error)
  return new UnreachableStoreError(name, problem, error)
}

/** What a statement's failure means for the database called `name`. */
export function queryErrorOf(error: unknown, name: string): StoreError {
  if (error instanceof StoreError) return error
  if (error instanceof DatabaseError) return serverErrorOf(error, name)
  // What the server did not say, the connection did.
  const problem = problemOf(error)
  if (problem === noAnswer) return new TimedOutError(name, 'no answer came', error)
  return new ConnectionLostError(name, problem, error)
}

/** By the server's codes (postgresql.org/docs/current/errcodes-appendix.html). */
function serverErrorOf(error: DatabaseError, name: string): StoreError {
  const { code = '', message } = error
  switch (code) {
    case '23503':
      return new UnknownReferenceError(error)
    case '40001':
    case '40P01':
      return new ContentionError(name, error)
    case '53100':
      return new DiskFullError(name, error)
    case '53300':
      return new TooManyConnectionsError(name, message, error)
    case '57014':
    case '55P03':
      return new TimedOutError(name, message, error)
    case '3D000':
      return new MissingDatabaseError(name, error)
    case '28000':
    case '28P01':
    case '42501':
      return new AccessDeniedError(name, message, error)
    case '25006':
      return new ReadOnlyStoreError(name, error)
    case '57P03':
      return new UnreachableStoreError(name, message, error)
    case '25P03':
    case '57P01':
    case '57P02':
    case '57P05':
      return new ConnectionLostError(name, message, error)
    case '0A000':
      // A prepared statement is older than a migration by another process: a new connection prepares it anew.
      if (message.includes('cached plan')) return new ConnectionLostError(name, message, error)
      break
    case 'XX001':
    case 'XX002':
      return new CorruptStoreError(name, message, error)
  }
  if (code.startsWith('08')) return new ConnectionLostError(name, message, error)
  return new StoreError({
    code: 'store/postgres',
    message: `PostgreSQL refused an operation on ${name}: ${message} (${code})`,
    hint: 'This is a defect unless the server is failing: please report it with the stack trace.',
    cause: error,
  })
}

/** A refused connection to a host with several addresses has its causes inside, and no message of its own. */
function problemOf(error: unknown): string {
  const { message, errors } = error as { message: string; errors?: readonly Error[] }
  return message || (errors?.map(({ message }) => message).join(', ') ?? 'no reason given')
}
