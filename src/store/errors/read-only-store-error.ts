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
