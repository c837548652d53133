import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import {
  CorruptStoreError,
  DiskFullError,
  ReadOnlyFolderError,
  ReadOnlyStoreError,
  StoreError,
  UnknownReferenceError,
} from './errors/index.ts'

/** SQLite's primary result codes (sqlite.org/rescode.html) that a caller can act on. */
const busy = 5
const readOnlyDatabase = 8
const ioError = 10
const corrupt = 11
const full = 13
const cannotOpen = 14
const notADatabase = 26
/** Extended codes: a foreign key that points nowhere; the index of the log, which could not grow. */
const foreignKey = 787
const noSpaceForIndex = 4874

/**
 * The package for Node 20 leaves the code out where rows are read: there it is known by SQLite's own words for it
 * (`sqlite3_errstr`), which do not change.
 */
const codesByMessage: ReadonlyMap<string, number> = new Map([
  ['database is locked', busy],
  ['attempt to write a readonly database', readOnlyDatabase],
  ['disk I/O error', ioError],
  ['database disk image is malformed', corrupt],
  ['database or disk is full', full],
  ['unable to open database file', cannotOpen],
  ['file is not a database', notADatabase],
  ['FOREIGN KEY constraint failed', foreignKey],
])

/** The error of another connection's lock; the writer lock reads it as "someone else writes". */
export class BusyError extends StoreError {}

/**
 * What a failure of the SQLite driver means for the store at `path`.
 * @param readOnly whether it is one of a connection that only reads.
 */
export function storeErrorOf(error: unknown, path: string, readOnly = false): StoreError {
  if (error instanceof StoreError) return error
  const { message, errcode = codesByMessage.get(message) ?? 0 } = error as { message: string; errcode?: number }
  if (errcode === foreignKey) return new UnknownReferenceError(error)
  if (errcode === noSpaceForIndex) return new DiskFullError(path, error)
  const kind = errcode & 0xff
  if (readOnly && (kind === readOnlyDatabase || kind === cannotOpen) && isInReadOnlyFolder(path)) {
    return new ReadOnlyFolderError(path, error)
  }
  switch (kind) {
    case busy:
      return new BusyError({
        code: 'store/busy',
        message: `The database ${path} is locked.`,
        hint: 'Something else holds it for long: close other programs that have it open, and try again.',
        cause: error,
      })
    case readOnlyDatabase:
      return new ReadOnlyStoreError(path, error)
    case ioError:
      return new StoreError({
        code: 'store/disk',
        message: `The disk refused to write or read the store ${path}: ${message}.`,
        hint: 'Check the disk, its quota, and limits on the size of files: what was acknowledged before is safe.',
        cause: error,
      })
    case corrupt:
    case notADatabase:
      return new CorruptStoreError(path, message, error)
    case full:
      return new DiskFullError(path, error)
    case cannotOpen:
      return new StoreError({
        code: 'store/cannot-open',
        message: `The database ${path} cannot be opened.`,
        hint: 'Check that the path is right and that its folder may be written.',
        cause: error,
      })
    default:
      return new StoreError({
        code: 'store/sqlite',
        message: `SQLite refused an operation on ${path}: ${message}`,
        hint: 'This is a defect unless the disk is failing: please report it with the stack trace.',
        cause: error,
      })
  }
}

/** A database that may be read, in a folder in which nothing may be made. */
function isInReadOnlyFolder(path: string): boolean {
  const may = (file: string, mode: number) => {
    try {
      accessSync(file, mode)
      return true
    } catch {
      return false
    }
  }
  return may(path, constants.R_OK) && !may(dirname(path), constants.W_OK)
}
