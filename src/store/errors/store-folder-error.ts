import { join } from 'node:path'
import { StoreError } from './store-error.ts'

/** The path of a store is a folder, where its database file is meant. */
export class StoreFolderError extends StoreError {
  constructor(path: string) {
    super({
      code: 'store/folder',
      message: `${path} is a folder, and the path of a store is its database file.`,
      hint: `Give the file in it: ${join(path, 'ratchet.db')}.`,
    })
  }
}
