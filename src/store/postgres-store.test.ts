import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '../../test/support/postgres.ts'
import { TaskId } from '../core/index.ts'
import { present } from '../errors/index.ts'
import {
  AccessDeniedError,
  CorruptStoreError,
  DatabaseEncodingError,
  GenerationConflictError,
  MissingStoreError,
  NewerSchemaError,
  OlderSchemaError,
  ReadOnlyStoreError,
  RecordConflictError,
  StoreError,
} from './errors/index.ts'
import { openStore } from './open-store.ts'
import { sample, storeConformance } from './store.conformance.ts'
import { trafficConformance } from './traffic.conformance.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await makeTestDatabase()
})
afterAll(() => database.drop())
beforeEach(() => database.clear())
const open = () => openStore({ url: database.url })

storeConformance('PostgreSQL', open)
trafficConformance('PostgreSQL', open)

/** Runs `work` on an empty database of its own. */
async function withDatabase(work: (database: TestDatabase) => Promise<void>, options?: string): Promise<void> {
  const own = await makeTestDatabase(options)
  try {
    await work(own)
  } finally {
    await own.drop()
  }
}

describe('openStore on PostgreSQL', () => {
  it('migrates once, however many open an empty database at once', async () => {
    await withDatabase(async ({ url, execute }) => {
      const stores = await Promise.all(Array.from({ length: 6 }, () => openStore({ url })))
      const applied = await execute('select name from ratchet.migrations order by name')
      expect(applied.map(({ name }) => name)).toEqual([
        '0001-loop',
        '0002-traffic',
        '0003-subjects',
        '0004-canaries',
        '0005-watched-canaries',
        '0006-erasures',
        '0007-packed-logprobs',
        '0008-expired-keys',
        '0009-request-claims',
        '0010-candidate-levels',
        '0011-audits',
        '0012-patches',
      ])
      await Promise.all(stores.map((store, i) => store.versions.put(sample.version(`v${i}`))))
      expect(await stores[0]?.versions.get(sample.version('v5').id)).not.toBeNull()
      await Promise.all(stores.map((store) => store.close()))
    })
  })

  it('shares a database with others, whatever they call their tables', async () => {
    await withDatabase(async ({ url, execute }) => {
      await execute('create table migrations (id int); create table runs (id int); insert into runs values (7)')
      const store = await openStore({ url })
      await store.runs.create(sample.run('run-1'))
      expect((await store.runs.list({ limit: 10 })).map(({ id }) => id)).toEqual(['run-1'])
      await store.close()
      expect(await execute('select id from public.runs')).toEqual([{ id: 7 }])
      expect(await execute('select id from public.migrations')).toEqual([])
    })
  })

  it('leaves alone a schema `ratchet` of somebody else', async () => {
    await withDatabase(async ({ url, execute }) => {
      await execute('create schema ratchet; create table ratchet.wrenches (id int)')
      await expect(openStore({ url })).rejects.toThrow(CorruptStoreError)
      await expect(openStore({ url })).rejects.toThrow('tables: wrenches')
      await expect(openStore({ url, readonly: true })).rejects.toThrow(CorruptStoreError)
      expect(await execute("select tablename from pg_tables where schemaname = 'ratchet'")).toHaveLength(1)
    })
  })

  it('does not make a store in order to read it', async () => {
    await withDatabase(async ({ url, execute }) => {
      await expect(openStore({ url, readonly: true })).rejects.toThrow(MissingStoreError)
      expect(await execute("select 1 from pg_namespace where nspname = 'ratchet'")).toEqual([])
    })
  })

  it('refuses a store of a newer Ratchet, and to read one that has to be migrated first', async () => {
    await withDatabase(async ({ url, execute }) => {
      await (await openStore({ url })).close()
      await execute("insert into ratchet.migrations values ('9999-future', 1)")
      await expect(openStore({ url })).rejects.toThrow(NewerSchemaError)
      await expect(openStore({ url, readonly: true })).rejects.toThrow('9999-future')
      await execute("delete from ratchet.migrations where name <> '0001-loop'")
      await expect(openStore({ url, readonly: true })).rejects.toThrow(OlderSchemaError)
    })
  })

  it('refuses a database that cannot hold every text', async () => {
    await withDatabase(async ({ url }) => {
      await expect(openStore({ url })).rejects.toThrow(DatabaseEncodingError)
    }, "encoding 'LATIN1' locale 'C' template template0")
  })

  it('lets readers look on, and only look', async () => {
    const writer = await open()
    const reader = await openStore({ url: database.url, readonly: true })
    await writer.versions.put(sample.version('a'))
    const hash = await writer.blobs.put(Buffer.from('bytes'))
    expect(await reader.versions.get(sample.version('a').id)).toEqual(sample.version('a'))
    expect(Buffer.from(await reader.blobs.get(hash)).toString()).toBe('bytes')
    for (const write of [
      () => reader.versions.put(sample.version('b')),
      () => reader.blobs.put(Buffer.from('b')),
      () => reader.blobs.delete('00'.repeat(32)),
      () => reader.transaction(async () => {}),
    ]) {
      await expect(write()).rejects.toThrow(ReadOnlyStoreError)
    }
    await Promise.all([writer.close(), reader.close()])
  })

  it('needs no more rights than it uses', async () => {
    await withDatabase(async ({ url, execute }) => {
      const role = `ratchet_${Math.random().toString(36).slice(2)}`
      const as = new URL(url)
      as.username = role
      await execute(`create role ${role} login`)
      try {
        await expect(openStore({ url: as.href })).rejects.toThrow(AccessDeniedError)
        await execute(`create schema ratchet authorization ${role}`)
        const store = await openStore({ url: as.href })
        await store.versions.put(sample.version('a'))
        await store.close()

        await execute(`alter schema ratchet owner to current_user; reassign owned by ${role} to current_user`)
        await execute(
          `grant usage on schema ratchet to ${role}; grant select on all tables in schema ratchet to ${role}`,
        )
        const reader = await openStore({ url: as.href, readonly: true })
        expect(await reader.versions.get(sample.version('a').id)).toEqual(sample.version('a'))
        await reader.close()
        const refused = await openStore({ url: as.href })
        await expect(refused.versions.put(sample.version('b'))).rejects.toThrow(AccessDeniedError)
        await refused.close()
      } finally {
        await execute(`drop owned by ${role}; drop role ${role}`)
      }
    })
  })

  it('says that the server takes no writes', async () => {
    await withDatabase(async ({ url, execute }) => {
      await (await openStore({ url })).close()
      const [{ name } = {}] = await execute('select current_database() as name')
      await execute(`alter database ${String(name)} set default_transaction_read_only = on`)
      const store = await openStore({ url, readonly: true })
      expect(await store.runs.list({ limit: 1 })).toEqual([])
      await store.close()
      const writer = await openStore({ url })
      await expect(writer.versions.put(sample.version('a'))).rejects.toThrow(ReadOnlyStoreError)
      await writer.close()
    })
  })

  it('waits for the disk also where that is not the default', async () => {
    await withDatabase(async ({ url, execute }) => {
      await (await openStore({ url })).close()
      const [{ name } = {}] = await execute('select current_database() as name')
      await execute(`alter database ${String(name)} set synchronous_commit = off`)
      await execute(`
        create table waited (setting text);
        create function note() returns trigger language plpgsql as
          $$ begin insert into public.waited values (current_setting('synchronous_commit')); return new; end $$;
        create trigger note after insert on ratchet.versions for each row execute function note()`)
      const store = await openStore({ url })
      await store.versions.put(sample.version('a'))
      await store.close()
      expect(await execute('select setting from waited')).toEqual([{ setting: 'on' }])
    })
  })

  it('does not copy itself: the database has its own tools', async () => {
    const store = await open()
    await expect(store.backup('/nowhere')).rejects.toThrow(StoreError)
    await store.close()
  })
})

describe('what PostgreSQL keeps', () => {
  it('is the text that was given, with NUL too, and any time', async () => {
    const store = await open()
    const key = 'a\0b\uFDD0c'
    await store.trajectories.append([sample.recorded('t\0')])
    await store.signals.append([sample.signal(key, { trajectory: 't\0', at: 1_700_000_000_000.25, value: '\0\ud800' })])
    const [signal] = await store.signals.of(sample.trajectory('t\0').id)
    expect(signal).toMatchObject({ key, trajectory: 't\0', value: '\0\ud800' })
    expect(await store.trajectories.get(sample.trajectory('t\0').id)).toEqual(sample.recorded('t\0'))
    const run = sample.run('run-1', { startedAt: 1_700_000_000_000.25, seed: Number.MAX_SAFE_INTEGER })
    await store.runs.create(run)
    expect(await store.runs.get(run.id)).toEqual(run)
    await store.close()
  })

  it('is in the order of code points, whatever the language of the database', async () => {
    await withDatabase(async ({ url, execute }) => {
      const store = await openStore({ url })
      const keys = ['b', 'B', 'ä', 'a', '_', 'Z', '\u{1F600}', '\uFFFD', 'a b', 'a-b']
      await store.trajectories.append([sample.recorded('t1')])
      await store.signals.append(keys.map((key) => sample.signal(key)))
      const inOrder = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      expect((await store.signals.of(sample.trajectory('t1').id)).map(({ key }) => key)).toEqual(inOrder)
      const byDefault = await execute('select key from ratchet.signals order by key collate "default"')
      expect(byDefault.map(({ key }) => key)).not.toEqual(inOrder)
      await store.close()
    }, "encoding 'UTF8' locale_provider icu icu_locale 'en' locale 'C' template template0")
  })
})

describe('two processes on one database', () => {
  it('see each other, and take turns in transactions', async () => {
    const [one, two] = [await open(), await open()]
    const release = sample.release('a')
    await one.releases.put(release)
    const activateNext = (store: typeof one) =>
      store.transaction(async (tx) => {
        const generation = ((await tx.releases.current('support'))?.generation ?? 0) + 1
        await new Promise((resolve) => setTimeout(resolve, 2))
        await tx.releases.activate(sample.activation(release, generation))
      })
    await Promise.all(Array.from({ length: 20 }, (_, i) => activateNext(i % 2 === 0 ? one : two)))
    const generations = (await two.releases.activations('support')).map(({ generation }) => generation)
    expect(generations).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    await Promise.all([one.close(), two.close()])
  })

  it('cannot both activate a generation, nor spend one use of a holdout', async () => {
    const stores = [await open(), await open()]
    const first = present(stores[0], 'a store')
    const release = sample.release('a')
    await first.releases.put(release)
    for (let generation = 1; generation <= 10; generation++) {
      const outcomes = await Promise.allSettled(
        stores.map((store, i) =>
          store.releases.activate({
            ...sample.activation(release, generation),
            reason: i === 0 ? 'promote' : 'rollback',
          }),
        ),
      )
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
      expect(refused).toHaveLength(1)
      expect(refused[0]?.reason).toBeInstanceOf(GenerationConflictError)
    }
    for (let use = 1; use <= 10; use++) {
      const outcomes = await Promise.allSettled(
        stores.map((store, i) => store.ledger.append({ ...sample.use(use), at: i }, [TaskId.parse('task-1')])),
      )
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
      expect(refused).toHaveLength(1)
      expect(refused[0]?.reason).toBeInstanceOf(RecordConflictError)
    }
    expect(await first.ledger.uses([TaskId.parse('task-1')])).toHaveLength(10)
    await Promise.all(stores.map((store) => store.close()))
  })

  it('both write the same records, once', async () => {
    const stores = [await open(), await open()]
    const records = Array.from({ length: 50 }, (_, i) => sample.recorded(`t${i}`))
    await Promise.all(
      stores.flatMap((store, i) =>
        (i === 0 ? records : records.toReversed()).map((record) => store.trajectories.append([record])),
      ),
    )
    expect(await stores[0]?.trajectories.count({})).toBe(50)
    await Promise.all(stores.map((store) => store.close()))
  })
})
