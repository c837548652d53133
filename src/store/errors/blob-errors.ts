import { StoreError } from './store-error.ts'

/** No blob has this hash. */
export class MissingBlobError extends StoreError {
  constructor(hash: string) {
    super({
      code: 'store/missing-blob',
      message: `The store has no blob ${hash}.`,
      hint: 'Copy the `blobs` folder together with the database: it holds the adapters and optimizer states.',
    })
  }
}

/** A blob's bytes are not the ones it is named after. */
export class CorruptBlobError extends StoreError {
  constructor(hash: string, actual: string) {
    super({
      code: 'store/corrupt-blob',
      message: `The bytes of blob ${hash} are damaged: their hash is ${actual}.`,
      hint: 'Restore this file of the `blobs` folder from a backup, or store the same bytes again, which repairs it.',
    })
  }
}
