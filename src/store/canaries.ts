import { type Insertable, type Kysely, type Selectable, sql } from 'kysely'
import { Canary, CanaryEvent, CanaryId, type CanaryRepository } from '../core/index.ts'
import type { Access } from './access.ts'
import { compiledStatement } from './compiled-statement.ts'
import { EndedCanaryError, RunningCanaryError } from './errors/index.ts'
import { forgetReporters, judgedSessions } from './judged-sessions.ts'
import { assertSame, fromJson, isSame, parseRecord, toJson } from './record.ts'
import { raiseRevision, whatServes } from './serving-revision.ts'
import type { Tables } from './tables.ts'

/** In words, not as a parameter: so the index of those that run serves it. */
const running = sql.lit('running')

/** Canaries, of which each agent has one at a time, and their append-only stories. */
export function canaryRepository(access: Access): CanaryRepository {
  const { read, write } = access
  return {
    ...judgedSessions(access),

    put: async (canary) => {
      const row = toRow(canary)
      await write(async (db) => {
        if (isSame(await find(db, canary.id), canary)) return
        await raiseRevision(db)
        // Looked at again: whoever changed it meanwhile has ended by now.
        const stored = await find(db, canary.id)
        if (isSame(stored, canary)) return
        if (stored) assertGoesOn(stored, canary)
        if (canary.status === 'running') await assertAlone(db, canary)
        if (stored) await db.updateTable('canaries').set(row).where('id', '=', canary.id).execute()
        else await db.insertInto('canaries').values(row).execute()
        if (canary.status !== 'running') await forgetReporters(db, canary.id)
      }, whatServes)
    },

    get: (id) => read((db) => find(db, id)),

    running: () =>
      read(async (db) => {
        const rows = await db
          .selectFrom('canaries')
          .select(['id', 'canary'])
          .where('status', '=', running)
          .orderBy('agent')
          .execute()
        return rows.map(fromRow)
      }),

    list: ({ agent, limit }) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('canaries')
          .select(['id', 'canary'])
          .$if(agent !== undefined, (query) => query.where('agent', '=', agent ?? ''))
          .orderBy('sequence', 'desc')
          .limit(limit)
          .execute()
        return rows.map(fromRow)
      }),

    watch: async (canary, until) => {
      await write((db) =>
        db
          .updateTable('canaries')
          .set({ watched_until: until })
          .where('id', '=', canary)
          .where((eb) => eb.or([eb('watched_until', 'is', null), eb('watched_until', '<', until)]))
          .execute(),
      )
    },

    watched: () =>
      read(async (db) => {
        const { rows } = await selectWatched(db, {})
        return rows.map(({ id, watched_until }) => ({
          canary: parseRecord(CanaryId, id, `canary ${id}`),
          until: watched_until ?? 0,
        }))
      }),

    appendEvent: async (event) => {
      const what = nameOf(event)
      const row = { ...event, reasons: toJson(event.reasons, what), evidence: toJson(event.evidence, what) }
      await write(async (db) => {
        const { numInsertedOrUpdatedRows: inserted } = await db
          .insertInto('canary_events')
          .values(row)
          .onConflict((c) => c.doNothing())
          .executeTakeFirstOrThrow()
        if (inserted === 1n) return
        const stored = await db
          .selectFrom('canary_events')
          .selectAll()
          .where('canary', '=', event.canary)
          .where('sequence', '=', event.sequence)
          .executeTakeFirstOrThrow()
        assertSame(toEvent(stored), event, what)
      })
    },

    events: (canary) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('canary_events')
          .selectAll()
          .where('canary', '=', canary)
          .orderBy('sequence')
          .execute()
        return rows.map(toEvent)
      }),
  }
}

const selectWatched = compiledStatement<{}, Pick<Tables['canaries'], 'watched_until'> & { readonly id: string }>((db) =>
  db.selectFrom('canaries').select(['id', 'watched_until']).where('status', '=', running),
)

async function find(db: Kysely<Tables>, id: string): Promise<Canary | null> {
  const row = await db.selectFrom('canaries').select(['id', 'canary']).where('id', '=', id).executeTakeFirst()
  return row ? fromRow(row) : null
}

function assertGoesOn(stored: Canary, canary: Canary): void {
  if (stored.status !== 'running') throw new EndedCanaryError(canary.id, stored.status)
  assertSame(fixedOf(stored), fixedOf(canary), `canary ${canary.id}`)
}

/** An index of the database holds it too; this says which one is in the way. */
async function assertAlone(db: Kysely<Tables>, { id, agent }: Canary): Promise<void> {
  const other = await db
    .selectFrom('canaries')
    .select('id')
    .where('agent', '=', agent)
    .where('status', '=', running)
    .where('id', '<>', id)
    .executeTakeFirst()
  if (other) throw new RunningCanaryError(agent, other.id)
}

/** What a canary is from its start to its end: sessions were assigned by it, and tests begun. */
function fixedOf(canary: Canary) {
  const { agent, baseline, candidate, admission, run, gate, shares, salt, generation, startedAt } = canary
  return { agent, baseline, candidate, admission, run, gate, shares, salt, generation, startedAt }
}

function toRow(canary: Canary): Omit<Insertable<Tables['canaries']>, 'watched_until'> {
  const { id, agent, status, baseline, admission, receipt } = canary
  return { id, agent, status, baseline, admission, receipt, canary: toJson(canary, `canary ${id}`) }
}

function fromRow({ id, canary }: Pick<Selectable<Tables['canaries']>, 'id' | 'canary'>): Canary {
  return parseRecord(Canary, fromJson(canary, `canary ${id}`), `canary ${id}`)
}

function nameOf({ canary, sequence }: { readonly canary: string; readonly sequence: number }): string {
  return `event ${sequence} of canary ${canary}`
}

function toEvent(row: Selectable<Tables['canary_events']>): CanaryEvent {
  const what = nameOf(row)
  const [reasons, evidence] = [fromJson(row.reasons, what), fromJson(row.evidence, what)]
  return parseRecord(CanaryEvent, { ...row, reasons, evidence }, what)
}
