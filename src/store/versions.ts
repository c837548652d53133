import type { Selectable } from 'kysely'
import { Version, type VersionRepository } from '../core/index.ts'
import type { Access } from './access.ts'
import { refuseErased } from './derived-items.ts'
import { assertSame, fromJson, parseRecord, toJson } from './record.ts'
import type { Tables } from './tables.ts'

/** Versions, written once. */
export function versionRepository({ read, write }: Access): VersionRepository {
  return {
    put: (version) =>
      write(async (db) => {
        const row = toRow(version)
        await refuseErased(db, row.value, `version ${version.id}`)
        const { numInsertedOrUpdatedRows: inserted } = await db
          .insertInto('versions')
          .values(row)
          .onConflict((c) => c.doNothing())
          .executeTakeFirstOrThrow()
        if (inserted === 1n) return
        const stored = await db
          .selectFrom('versions')
          .selectAll()
          .where('id', '=', version.id)
          .executeTakeFirstOrThrow()
        assertSame(contentOf(fromRow(stored)), contentOf(version), `version ${version.id}`)
      }),

    get: (id) =>
      read(async (db) => {
        const row = await db.selectFrom('versions').selectAll().where('id', '=', id).executeTakeFirst()
        return row ? fromRow(row) : null
      }),
  }
}

/** What a version's id addresses. Two runs may arrive at one value: the version keeps the parents and run of the first. */
function contentOf({ parameter, value }: Version) {
  return { parameter, value }
}

function toRow(version: Version): Tables['versions'] {
  const what = `version ${version.id}`
  return {
    id: version.id,
    parameter: version.parameter,
    kind: version.value.kind,
    value: toJson(version.value, what),
    parents: toJson(version.parents, what),
    run: version.run,
  }
}

function fromRow(row: Selectable<Tables['versions']>): Version {
  const what = `version ${row.id}`
  const { id, parameter, run } = row
  const value = fromJson(row.value, what)
  return parseRecord(Version, { id, parameter, value, parents: fromJson(row.parents, what), run }, what)
}
