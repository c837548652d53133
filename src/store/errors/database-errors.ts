import { StoreError } from './store-error.ts'

/** The database as a whole cannot be used now, whatever is asked of it: asking for something else will not help. */
export class UnavailableStoreError extends StoreError {}

/** Nothing answers where the database should be. */
export class UnreachableStoreError extends UnavailableStoreError {
  constructor(name: string, problem: string, cause?: unknown) {
    super({
      code: 'store/unreachable',
      message: `The database ${name} cannot be reached: ${problem}.`,
      hint: 'Check that the server runs, and that host, port and TLS settings of the URL are right.',
      cause,
    })
  }
}

/** The server does not know the user, the password is wrong, or the user may not do this. */
export class AccessDeniedError extends UnavailableStoreError {
  constructor(name: string, problem: string, cause?: unknown) {
    super({
      code: 'store/access-denied',
      message: `The database ${name} refuses access: ${problem}.`,
      hint: 'Check user and password. The user needs a schema `ratchet` of its own, or the right to make it.',
      cause,
    })
  }
}

/** The server has no such database. */
export class MissingDatabaseError extends UnavailableStoreError {
  constructor(name: string, cause?: unknown) {
    super({
      code: 'store/missing-database',
      message: `There is no database ${name}.`,
      hint: 'Make it (`createdb`), or correct the name in the URL. Its tables are made by Ratchet.',
      cause,
    })
  }
}

/** The server, or this process, has no connection left. */
export class TooManyConnectionsError extends UnavailableStoreError {
  constructor(name: string, problem: string, cause?: unknown) {
    super({
      code: 'store/too-many-connections',
      message: `There is no connection to the database ${name} left: ${problem}.`,
      hint: 'Each Ratchet process uses up to 12: raise `max_connections`, or run fewer processes.',
      cause,
    })
  }
}

/** The connection broke before anything was committed. */
export class ConnectionLostError extends UnavailableStoreError {
  constructor(name: string, problem: string, cause?: unknown) {
    super({
      code: 'store/connection-lost',
      message: `The connection to the database ${name} was lost: ${problem}. Nothing was written.`,
      hint: 'Try again: Ratchet reconnects once the server answers.',
      cause,
    })
  }
}

/** The connection broke during a commit: the write is there completely, or not at all. */
export class UnknownOutcomeError extends UnavailableStoreError {
  constructor(name: string, cause?: unknown) {
    super({
      code: 'store/unknown-outcome',
      message: `The connection to the database ${name} was lost during a commit: it may or may not have happened.`,
      hint: 'Write the same again: a record that is there already is not written twice.',
      cause,
    })
  }
}

/** A statement, or the wait for a lock, took too long and was cancelled. Nothing of its transaction was written. */
export class TimedOutError extends StoreError {
  constructor(name: string, problem: string, cause?: unknown) {
    super({
      code: 'store/timed-out',
      message: `The database ${name} took too long: ${problem}.`,
      hint: 'Ask for less at once, or look what the server is busy with (`pg_stat_activity`).',
      cause,
    })
  }
}

/** Two transactions stood in each other's way, and the database chose this one to give way. Nothing of it was written. */
export class ContentionError extends StoreError {
  constructor(name: string, cause?: unknown) {
    super({
      code: 'store/contention',
      message: `Another transaction on the database ${name} was in the way.`,
      hint: 'Do the same again.',
      cause,
    })
  }
}

/** What should name a database does not. Says nothing of what was given: there may be a password in it. */
export class BadDatabaseUrlError extends StoreError {
  constructor(problem: string) {
    super({
      code: 'store/bad-url',
      message: `The database URL cannot be used: ${problem}.`,
      hint: 'Give `postgresql://user:password@host:5432/database`, with special characters of the password percent-encoded.',
    })
  }
}

/** The database was made for an encoding that cannot hold every text. */
export class DatabaseEncodingError extends StoreError {
  constructor(name: string, encoding: string) {
    super({
      code: 'store/encoding',
      message: `The database ${name} has the encoding ${encoding}, which cannot hold every text.`,
      hint: "Use one that was made with `create database … encoding 'UTF8'`.",
    })
  }
}
