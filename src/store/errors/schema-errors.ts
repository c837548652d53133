import { StoreError } from './store-error.ts'

/** The store was written by a newer Ratchet; migrations only go forward. */
export class NewerSchemaError extends StoreError {
  constructor(path: string, unknown: readonly string[]) {
    super({
      code: 'store/newer-schema',
      message: `The store ${path} was written by a newer version of Ratchet (unknown migrations: ${unknown.join(', ')}).`,
      hint: 'Update Ratchet, or point it at another store.',
    })
  }
}

/** A store opened read-only lacks migrations, and a reader may not run them. */
export class OlderSchemaError extends StoreError {
  constructor(path: string, pending: readonly string[]) {
    super({
      code: 'store/older-schema',
      message: `The store ${path} was written by an older version of Ratchet (pending migrations: ${pending.join(', ')}).`,
      hint: 'Open it once for writing, which migrates it, and then read it.',
    })
  }
}
