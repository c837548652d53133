import type { Kysely } from 'kysely'
import type { TrajectoryFilter } from '../core/index.ts'
import { fromJson } from './record.ts'
import type { Tables } from './tables.ts'
import { matching } from './trajectory-filter.ts'

/** Ids of one statement. */
const idsAtOnce = 256

/**
 * Keys of sessions that name a person: as whom they are about, or by the name of a session that is about them.
 * @returns none for a filter without a subject.
 */
export async function sessionKeysOf(db: Kysely<Tables>, filter: TrajectoryFilter): Promise<readonly string[]> {
  const { subject, tenant } = filter
  if (subject === undefined) return []
  const rows = await db
    .selectFrom('api_keys')
    .select(['id', 'settings'])
    .where('session', 'is not', null)
    .$if(tenant !== undefined, (query) => query.where('tenant', '=', tenant ?? ''))
    .select((eb) =>
      eb
        .exists(
          eb
            .selectFrom('trajectories')
            .select('trajectories.id')
            .whereRef('trajectories.session', '=', 'api_keys.session')
            .whereRef('trajectories.tenant', '=', 'api_keys.tenant')
            .where(matching(filter)),
        )
        .as('named'),
    )
    .execute()
  // True in one database, 1 in the other.
  return rows.filter(({ named, settings, id }) => Boolean(named) || isAbout(settings, id, subject)).map(({ id }) => id)
}

function isAbout(settings: string, id: string, subject: string): boolean {
  const known = fromJson(settings, `key ${id}`)
  return typeof known === 'object' && known !== null && 'subject' in known && known.subject === subject
}

/** @returns how many there were. */
export async function removeSessionKeys(db: Kysely<Tables>, ids: readonly string[]): Promise<number> {
  let removed = 0
  for (let start = 0; start < ids.length; start += idsAtOnce) {
    const { numDeletedRows } = await db
      .deleteFrom('api_keys')
      .where('id', 'in', ids.slice(start, start + idsAtOnce))
      .executeTakeFirstOrThrow()
    removed += Number(numDeletedRows)
  }
  return removed
}
