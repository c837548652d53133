import type { Kysely } from 'kysely'
import { sha256, subjectMark } from '../core/index.ts'
import type { Tables } from './tables.ts'

/** No call lasts so long: what is older holds nobody back. Milliseconds. */
const rememberedMs = 24 * 60 * 60 * 1_000
const rowsAtOnce = 256

/** What stands for a person among the erasures. Kept for a day. */
export const erasedSubject = subjectMark

/** What stands for a trajectory among the erasures. */
export function erasedTrajectory(id: string): string {
  return sha256(JSON.stringify(['erased', id])).slice(0, 32)
}

/**
 * Remembers that these were erased: calls that began before `at` are not recorded any more.
 * @param what made by {@link erasedSubject} and {@link erasedTrajectory}.
 */
export async function rememberErased(db: Kysely<Tables>, what: readonly string[], at: number): Promise<void> {
  for (let start = 0; start < what.length; start += rowsAtOnce) {
    await db
      .insertInto('erasures')
      .values(what.slice(start, start + rowsAtOnce).map((one) => ({ what: one, at })))
      .onConflict((c) => c.column('what').doUpdateSet((eb) => ({ at: eb.ref('excluded.at') })))
      .execute()
  }
}

/** Forgets erasures that no call can have begun before. */
export async function forgetOldErasures(db: Kysely<Tables>, now: number): Promise<void> {
  await db
    .deleteFrom('erasures')
    .where('at', '<', now - rememberedMs)
    .execute()
}

/** A call, as far as an erasure may mean it. */
export type ErasableCall = Readonly<{
  /** {@link erasedTrajectory} of where it belongs. */
  within: string
  /** {@link erasedSubject} of whom it is about; empty for nobody. */
  about: string
  startedAt: number
}>

/** Whether a call began before its person, or what it goes on with, was erased. */
export async function isErased(db: Kysely<Tables>, { within, about, startedAt }: ErasableCall): Promise<boolean> {
  const row = await db
    .selectFrom('erasures')
    .select('what')
    .where('what', 'in', [within, about])
    .where('at', '>=', startedAt)
    .executeTakeFirst()
  return row !== undefined
}
