import { existsSync } from 'node:fs'
import { mkdtemp, rmdir, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { openStore, type StoreLocation } from '../../store/index.ts'
import { failure, type Finding, found, ok, warning } from './finding.ts'

/** File systems over a network, by the magic numbers of statfs(2): NFS, SMB, CIFS, SMB2. */
const networked = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42])

/** Whether the store can be used, or made. Leaves nothing behind. */
export const checkStore = (location: StoreLocation): Promise<Finding> =>
  found('store', async () => {
    if ('url' in location) {
      await (await openStore({ ...location, readonly: true })).close()
      return ok('store', `PostgreSQL at ${new URL(location.url).host} answers.`)
    }
    const folder = nearest(dirname(resolve(location.path)))
    try {
      await rmdir(await mkdtemp(join(folder, '.ratchet-doctor-')))
    } catch {
      return failure(
        'store',
        `The folder ${folder} cannot be written.`,
        'Name another with --store, or change its rights.',
      )
    }
    if (networked.has((await statfs(folder)).type)) {
      const hint = 'Keep the store on a local disk, or use PostgreSQL (RATCHET_DATABASE_URL).'
      return warning('store', `The folder ${folder} is on a network: SQLite's locks are unreliable there.`, hint)
    }
    if (!existsSync(location.path))
      return ok('store', `There is none yet: it will be made in ${dirname(location.path)}.`)
    const store = await openStore({ ...location, readonly: true })
    try {
      const [latest] = await store.trajectories.summaries({ limit: 1 })
      const last = latest ? `its latest episode changed ${new Date(latest.updatedAt).toISOString()}` : 'no episode yet'
      return ok('store', `${location.path} can be read; ${last}.`)
    } finally {
      await store.close()
    }
  })

/** The folder, else the nearest one above it that exists. */
const nearest = (folder: string): string => (existsSync(folder) ? folder : nearest(dirname(folder)))
