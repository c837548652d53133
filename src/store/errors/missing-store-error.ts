import { StoreError } from './store-error.ts'

/** A store that should be read does not exist. */
export class MissingStoreError extends StoreError {
  constructor(path: string) {
    super({
      code: 'store/missing',
      message: `There is no store at ${path}.`,
      hint: 'Start `ratchet serve` in this folder, which makes one; or name the folder of yours with --store.',
    })
  }
}
