import { StoreError } from './store-error.ts'

/** A thread of the store ended before it answered. */
export class CrashedStoreError extends StoreError {
  constructor(path: string, problem: string, cause?: unknown) {
    super({
      code: 'store/crashed',
      message: `A thread of the store ${path} ended before it answered: ${problem}.`,
      hint: 'Do it again: nothing was half-written, but a write may have been committed. If memory ran out, read less at once.',
      cause,
    })
  }
}
