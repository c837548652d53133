import { StoreError } from './store-error.ts'

/** The file is not a Ratchet store, or its pages are damaged. */
export class CorruptStoreError extends StoreError {
  constructor(path: string, problem: string, cause?: unknown) {
    super({
      code: 'store/corrupt',
      message: `The store ${path} cannot be read: ${problem}.`,
      hint: 'Check that the path names a Ratchet store; if it does, restore it from a backup.',
      cause,
    })
  }
}
