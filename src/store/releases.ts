import type { Kysely, Selectable } from 'kysely'
import { Activation, Pin, Release, type ReleaseRepository } from '../core/index.ts'
import { InvariantError } from '../errors/index.ts'
import type { Access } from './access.ts'
import { GenerationConflictError } from './errors/index.ts'
import { assertSame, fromJson, parseRecord, toJson } from './record.ts'
import { readRevision, raiseRevision, whatServes } from './serving-revision.ts'
import type { Tables } from './tables.ts'

/** Releases, written once, and the append-only history of which one served. */
export function releaseRepository({ read, write }: Access): ReleaseRepository {
  return {
    put: (release) =>
      write(async (db) => {
        const { id, agent, receipt, run, createdAt } = release
        const versions = toJson(release.versions, `release ${id}`)
        const { numInsertedOrUpdatedRows: inserted } = await db
          .insertInto('releases')
          .values({ id, agent, versions, receipt, run, created_at: createdAt })
          .onConflict((c) => c.doNothing())
          .executeTakeFirstOrThrow()
        if (inserted !== 1n) assertSame(await find(db, id), release, `release ${id}`)
      }),

    get: (id) => read((db) => find(db, id)),

    list: ({ agent, asDeclared, limit }) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('releases')
          .selectAll()
          .$if(agent !== undefined, (query) => query.where('agent', '=', agent ?? ''))
          .$if(asDeclared === true, (query) => query.where('receipt', 'is', null))
          .orderBy('sequence', 'desc')
          .limit(limit)
          .execute()
        return rows.map(fromRow)
      }),

    activate: (activation) =>
      write(async (db) => {
        const { agent, generation } = activation
        await raiseRevision(db)
        const latest = (await latestActivation(db, agent))?.generation ?? 0
        if (generation !== latest + 1) throw new GenerationConflictError(agent, generation, latest)
        // The key decides, not the look before it: where several processes write, both may have seen the same latest.
        const { numInsertedOrUpdatedRows: inserted } = await db
          .insertInto('activations')
          .values(activation)
          .onConflict((c) => c.columns(['agent', 'generation']).doNothing())
          .executeTakeFirstOrThrow()
        if (inserted !== 1n) throw new GenerationConflictError(agent, generation, generation)
      }, whatServes),

    current: (agent) => read((db) => latestActivation(db, agent)),

    activations: (agent) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('activations')
          .selectAll()
          .where('agent', '=', agent)
          .orderBy('generation')
          .execute()
        return rows.map(toActivation)
      }),

    recent: (agent, limit) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('activations')
          .selectAll()
          .where('agent', '=', agent)
          .orderBy('generation', 'desc')
          .limit(limit)
          .execute()
        return rows.map(toActivation)
      }),

    serving: () =>
      read(async (db) => {
        const rows = await db
          .selectFrom('activations')
          .innerJoin(
            (eb) =>
              eb
                .selectFrom('activations')
                .groupBy('agent')
                .select((all) => ['agent', all.fn.max('generation').as('generation')])
                .as('latest'),
            (join) =>
              join
                .onRef('latest.agent', '=', 'activations.agent')
                .onRef('latest.generation', '=', 'activations.generation'),
          )
          .selectAll('activations')
          .orderBy('activations.agent')
          .execute()
        return rows.map(toActivation)
      }),

    pin: async (agent, pin) => {
      if (pin !== null && pin.agent !== agent) {
        throw new InvariantError(`a pin of agent ${pin.agent} was given for agent ${agent}`)
      }
      await write(async (db) => {
        await raiseRevision(db)
        if (pin === null) {
          await db.deleteFrom('pins').where('agent', '=', agent).execute()
          return
        }
        const { release, reason, at } = pin
        await db
          .insertInto('pins')
          .values({ agent, release, reason, at })
          .onConflict((c) => c.column('agent').doUpdateSet({ release, reason, at }))
          .execute()
      }, whatServes)
    },

    pinned: (agent) =>
      read(async (db) => {
        const row = await db.selectFrom('pins').selectAll().where('agent', '=', agent).executeTakeFirst()
        return row ? parseRecord(Pin, { ...row }, `pin of agent ${agent}`) : null
      }),

    revision: () => read(readRevision),
  }
}

async function find(db: Kysely<Tables>, id: string): Promise<Release | null> {
  const row = await db.selectFrom('releases').selectAll().where('id', '=', id).executeTakeFirst()
  return row ? fromRow(row) : null
}

async function latestActivation(db: Kysely<Tables>, agent: string): Promise<Activation | null> {
  const row = await db
    .selectFrom('activations')
    .selectAll()
    .where('agent', '=', agent)
    .orderBy('generation', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ? toActivation(row) : null
}

function fromRow(row: Selectable<Tables['releases']>): Release {
  const what = `release ${row.id}`
  const { id, agent, receipt, run } = row
  const versions = fromJson(row.versions, what)
  return parseRecord(Release, { id, agent, versions, receipt, run, createdAt: row.created_at }, what)
}

function toActivation(row: Selectable<Tables['activations']>): Activation {
  return parseRecord(Activation, { ...row }, `activation ${row.generation} of agent ${row.agent}`)
}
