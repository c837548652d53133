import { StoreError } from './store-error.ts'

/** A write to a store that was opened read-only, or whose files may not be written. */
export class ReadOnlyStoreError extends StoreError {
  constructor(path: string, cause?: unknown) {
    super({
      code: 'store/read-only',
      message: `The store ${path} is read-only.`,
      hint: 'Open it without `readonly`, and check that its files and their folder may be written.',
      cause,
    })
  }
}

/** A store that is to be read lies where its reader may not write, and SQLite would have to write there first. */
export class ReadOnlyFolderError extends StoreError {
  constructor(path: string, cause?: unknown) {
    super({
      code: 'store/read-only-folder',
      message: `The store ${path} cannot be read, because its folder may not be written: SQLite keeps a log there.`,
      hint: 'Read it as a user who may write the folder, or read a copy made by `ratchet backup`, which needs no log.',
      cause,
    })
  }
}
