import { StoreError } from './store-error.ts'

/** A store that should be read does not exist. */
export class MissingStoreError extends StoreError {
  constructor(path: string) {
    super({
      code: 'store/missing',
      message: `There is no store at ${path}.`,
      hint: 'Check the path, or make the store: `ratchet serve` and `ratchet learn` do.',
    })
  }
}
