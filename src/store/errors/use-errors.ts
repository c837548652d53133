import { StoreError } from './store-error.ts'

/** The store was closed. */
export class ClosedStoreError extends StoreError {
  constructor(path: string) {
    super({ code: 'store/closed', message: `The store ${path} is closed.`, hint: 'Open it again.' })
  }
}

/** Inside a transaction the store itself was used: it would wait for the transaction, and the transaction for it. */
export class OutsideTransactionError extends StoreError {
  constructor() {
    super({
      code: 'store/outside-transaction',
      message: 'The store was used inside one of its transactions, past the transaction.',
      hint: 'Read and write through the argument that `transaction` hands to its callback.',
    })
  }
}
