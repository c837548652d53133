import { StoreError } from './store-error.ts'

/** A stored record does not have the shape that its schema says: something else wrote to the database. */
export class CorruptRecordError extends StoreError {
  constructor(what: string, problem: string, cause?: unknown) {
    super({
      code: 'store/corrupt-record',
      message: `The stored ${what} is not valid: ${problem}`,
      hint: 'Restore the store from a backup; only Ratchet may write to it.',
      cause,
    })
  }
}
