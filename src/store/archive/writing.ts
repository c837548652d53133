import { archiveUnwritable } from '../errors/archive-error.ts'
import { StoreError } from '../errors/store-error.ts'

/** Does what writes an archive. @throws ArchiveError (`store/archive-unwritable`) for what fails; StoreErrors as they are. */
export async function writing<T>(folder: string, write: () => T | Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw error instanceof StoreError ? error : archiveUnwritable(folder, error)
  }
}
