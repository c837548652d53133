import { existsSync, readdirSync, renameSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { InputError } from '../errors/index.ts'
import { LockedStoreError, openStore, type StoreLocation } from '../store/index.ts'

/**
 * Makes room for an empty store at a folder: an earlier one is moved aside to the first free of `folder.1`, `folder.2` …
 * @returns where the earlier one went; `null` when there was none.
 * @throws InputError when the folder holds something else than a store, or a store that a gateway recorded in: what an agent
 * did, and its API keys, are not put out of its sight.
 * @throws LockedStoreError when another process writes it.
 */
export async function moveStoreAside(location: StoreLocation): Promise<string | null> {
  if (!('path' in location)) {
    throw new InputError({
      code: 'input/not-a-folder',
      message: 'The store is a database: it is not moved aside.',
      hint: 'Leave --new-store out, name a folder with --store, or unset RATCHET_DATABASE_URL.',
    })
  }
  const folder = resolve(dirname(location.path))
  if (!existsSync(folder)) return null
  const isFolder = statSync(folder).isDirectory()
  if (isFolder && readdirSync(folder).length === 0) return null
  const path = join(folder, 'ratchet.db')
  if (!existsSync(path)) {
    throw new InputError({
      code: 'input/not-a-store',
      message: `${folder} ${isFolder ? 'holds files, and no store' : 'is a file'}: it is not moved aside.`,
      hint: 'Name a folder of its own with --store.',
    })
  }
  await refuseWhatIsUsed(path)
  for (let n = 1; ; n++) {
    const aside = `${folder}.${n}`
    if (existsSync(aside)) continue
    renameSync(folder, aside)
    return aside
  }
}

async function refuseWhatIsUsed(path: string): Promise<void> {
  try {
    const store = await openStore({ path })
    try {
      const recorded = (await store.trajectories.count({ origin: 'traffic' })) > 0
      if (recorded || (await store.keys.list({ limit: 1 })).length > 0) throw holdsTraffic(dirname(path))
    } finally {
      await store.close()
    }
  } catch (error) {
    // A store that cannot be used may be moved aside; one that is in use may not.
    if (error instanceof LockedStoreError || error instanceof InputError) throw error
  }
}

const holdsTraffic = (folder: string) =>
  new InputError({
    code: 'input/store-holds-traffic',
    message: `${folder} holds what a gateway recorded, or its API keys: it is not moved aside.`,
    hint: 'Name another store, as in: npm start -- --store .ratchet-job',
  })
