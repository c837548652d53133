import { join } from 'node:path'

/** Where a store is: a file of SQLite, or a database of PostgreSQL. */
export type StoreLocation =
  | {
      /** The database file. Beside it: `blobs/`, the write-ahead log, and the writer's lock. */
      readonly path: string
    }
  | {
      /** `postgresql://user:password@host:5432/database`, with the parameters that libpq knows. Secret. */
      readonly url: string
    }

/** Where a store is that nobody named. */
const defaultFolder = '.ratchet'

/**
 * Where the store is that a command works with. What was said on the command line counts; else the environment's
 * `RATCHET_DATABASE_URL`, where it is set and not empty; else the folder `.ratchet`.
 * @param folder from the command line: a folder, or a database's URL.
 */
export function storeLocation({
  folder,
  env,
}: {
  readonly folder?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}): StoreLocation {
  if (folder !== undefined) return isUrl(folder) ? { url: folder } : { path: join(folder, 'ratchet.db') }
  const url = env['RATCHET_DATABASE_URL']?.trim()
  return url ? { url } : { path: join(defaultFolder, 'ratchet.db') }
}

/** Any URL, so that one that is not PostgreSQL's is refused as such, and no folder is named after its password. */
function isUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
}
