import { createServer } from 'node:net'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '../../test/support/postgres.ts'
import { type PostgresProxy, startPostgresProxy } from '../../test/support/postgres-proxy.ts'
import type { Store } from '../core/index.ts'
import { RatchetError } from '../errors/index.ts'
import {
  AccessDeniedError,
  BadDatabaseUrlError,
  ConnectionLostError,
  DiskFullError,
  MissingDatabaseError,
  TimedOutError,
  TooManyConnectionsError,
  UnknownOutcomeError,
  UnreachableStoreError,
} from './errors/index.ts'
import { openStore } from './open-store.ts'
import { sample } from './store.conformance.ts'

let database: TestDatabase
let proxy: PostgresProxy
let store: Store | null = null
const thrown: unknown[] = []
beforeAll(async () => {
  database = await makeTestDatabase()
  await (await openStore({ url: database.url })).close()
})
afterAll(() => database.drop())
beforeEach(async () => {
  proxy = await startPostgresProxy(database.url)
})
afterEach(async () => {
  await store?.close()
  store = null
  await proxy.close()
  await database.execute('drop trigger if exists fault on ratchet.versions; drop function if exists public.fault')
  await database.clear()
  // What happened may be logged with all that hangs on it: nowhere in it is the password.
  for (const error of thrown.splice(0)) expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('hunter2')
})

const open = async () => (store = await openStore({ url: proxy.url }))

/** The error of what must fail, as itself. */
async function failure(work: Promise<unknown>): Promise<RatchetError> {
  const error = await work.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  )
  thrown.push(error)
  if (!RatchetError.is(error)) throw error
  return error
}

/** Lets the database do something whenever a version is written: at once, or when its transaction commits. */
async function onVersion(body: string, when: 'at once' | 'at commit' = 'at once'): Promise<void> {
  const kind = when === 'at once' ? 'trigger' : 'constraint trigger'
  const deferred = when === 'at once' ? '' : 'deferrable initially deferred'
  await database.execute(`
    create or replace function public.fault() returns trigger language plpgsql as $$ begin ${body}; return new; end $$;
    create ${kind} fault after insert on ratchet.versions ${deferred} for each row execute function public.fault()`)
}

const terminateAll = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

/** Waits until somebody waits in the database for what a trigger does. */
async function untilAsleep(): Promise<void> {
  const asleep = `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
  while ((await database.execute(asleep)).length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
}

describe('a database that cannot be opened', () => {
  it('is not there', async () => {
    const server = createServer().listen(0)
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    const error = await failure(openStore({ url: `postgres://ratchet:hunter2@127.0.0.1:${port}/ratchet` }))
    expect(error).toBeInstanceOf(UnreachableStoreError)
    expect(error.message).toContain(`postgresql://ratchet@127.0.0.1:${port}/ratchet`)
    expect(error.message).toContain('ECONNREFUSED')
  })

  it('has another name', async () => {
    const url = new URL(proxy.url)
    url.pathname = '/nowhere'
    const error = await failure(openStore({ url: url.href }))
    expect(error).toBeInstanceOf(MissingDatabaseError)
    expect(error.message).toContain('/nowhere')
  })

  it.each([
    ['28P01', 'password authentication failed for user "ratchet"', AccessDeniedError],
    ['28000', 'no pg_hba.conf entry', AccessDeniedError],
    ['53300', 'sorry, too many clients already', TooManyConnectionsError],
    ['57P03', 'the database system is starting up', UnreachableStoreError],
  ])('says %s: %s', async (code, message, kind) => {
    proxy.door = { refuse: () => ({ code, message }) }
    const error = await failure(openStore({ url: proxy.url }))
    expect(error).toBeInstanceOf(kind)
    expect(error.message).toContain(message)
    expect(error.hint).not.toBe('')
  })

  it.each([
    'mysql://ratchet:hunter2@db/ratchet',
    'ratchet:hunter2@db',
    'postgres://ratchet:hunter2#1@db/ratchet',
    'postgres://ratchet:1/hunter2@db/ratchet',
    'postgres://ratchet:1?hunter2@db/ratchet',
    'postgres://ratchet@db/ratchet?sslcert=/nowhere&password=hunter2',
    '',
  ])('has no URL: %s', async (url) => {
    const error = await failure(openStore({ url }))
    expect(error).toBeInstanceOf(BadDatabaseUrlError)
    expect(error.message).not.toContain('hunter2')
  })
})

describe('behind a pooler that keeps no settings', () => {
  it('is opened without them', async () => {
    const startups: string[] = []
    proxy.door = {
      refuse: (startup) => {
        startups.push(startup)
        const [setting] =
          /statement_timeout|lock_timeout|idle_in_transaction_session_timeout|options/.exec(startup) ?? []
        return setting === undefined ? null : { code: '08P01', message: `unsupported startup parameter: ${setting}` }
      },
    }
    const { versions } = await open()
    await versions.put(sample.version('a'))
    expect(await versions.get(sample.version('a').id)).toEqual(sample.version('a'))
    expect(startups.length).toBeGreaterThan(1)

    // What a connection was told, the next statement's may not know: time-outs come with each transaction, and no
    // statement is prepared.
    await onVersion(`
      if current_setting('lock_timeout') = '0' then raise exception 'no time-out'; end if;
      if exists (select 1 from pg_prepared_statements where name like 'ratchet%') then raise exception 'prepared'; end if`)
    for (const text of ['b', 'c']) await versions.put(sample.version(text))
  })
})

describe('a connection that breaks', () => {
  it('unused, is made again', async () => {
    const { versions } = await open()
    await versions.put(sample.version('a'))
    proxy.cut()
    await versions.put(sample.version('b'))
    await database.execute(terminateAll)
    expect(await versions.get(sample.version('b').id)).toEqual(sample.version('b'))
    await database.execute(terminateAll)
    await versions.put(sample.version('c'))
  })

  it('before the commit, is nothing that the writer hears of', async () => {
    const { versions } = await open()
    await onVersion('perform pg_sleep(0.3)')
    const writes = Promise.all(['a', 'b', 'c'].map((text) => versions.put(sample.version(text))))
    await untilAsleep()
    await database.execute(terminateAll)
    await writes
    for (const text of ['a', 'b', 'c']) expect(await versions.get(sample.version(text).id)).not.toBeNull()
  })

  it('in a transaction, fails it: nothing was written, and it runs once', async () => {
    const opened = await open()
    await onVersion('perform pg_sleep(0.3)')
    let runs = 0
    const writing = failure(
      opened.transaction(async (tx) => {
        runs += 1
        await tx.versions.put(sample.version('a'))
      }),
    )
    await untilAsleep()
    await database.execute(terminateAll)
    expect(await writing).toBeInstanceOf(ConnectionLostError)
    expect(runs).toBe(1)
    expect(await opened.versions.get(sample.version('a').id)).toBeNull()
  })

  it('during the commit, leaves open whether it happened; the same write settles it', async () => {
    const { versions } = await open()
    await onVersion('perform pg_sleep(0.3)', 'at commit')
    const writing = failure(versions.put(sample.version('a')))
    await untilAsleep()
    proxy.cut()
    expect(await writing).toBeInstanceOf(UnknownOutcomeError)
    await versions.put(sample.version('a'))
    expect(await versions.get(sample.version('a').id)).toEqual(sample.version('a'))
  })

  it('and cannot be made again, fails every write at once, and none once it can', async () => {
    const { versions } = await open()
    await versions.put(sample.version('a'))
    proxy.door = { refuse: () => ({ code: '57P03', message: 'the database system is shutting down' }) }
    proxy.cut()
    const errors = await Promise.all(
      Array.from({ length: 40 }, (_, i) => failure(versions.put(sample.version(`lost ${i}`)))),
    )
    for (const error of errors) expect(error).toBeInstanceOf(UnreachableStoreError)
    expect(await failure(versions.get(sample.version('a').id))).toBeInstanceOf(UnreachableStoreError)
    proxy.door = 'open'
    await versions.put(sample.version('b'))
    expect(await versions.get(sample.version('lost 0').id)).toBeNull()
  })
})

describe('a server in trouble', () => {
  it('has no space left: nothing of that write is kept, and its neighbours are', async () => {
    const { versions } = await open()
    await onVersion(
      `if new.value like '%large%' then raise exception using errcode = '53100', message = 'no space'; end if`,
    )
    const outcomes = await Promise.allSettled(['a', 'large', 'b'].map((text) => versions.put(sample.version(text))))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await failure(versions.put(sample.version('large')))).toBeInstanceOf(DiskFullError)
    expect(await versions.get(sample.version('large').id)).toBeNull()
  })

  it('has no connection left: those that there are go round', async () => {
    const role = `ratchet_${Math.random().toString(36).slice(2)}`
    await database.execute(`create role ${role} login connection limit 3;
      grant usage on schema ratchet to ${role}; grant all on all tables in schema ratchet to ${role};
      grant all on all sequences in schema ratchet to ${role}`)
    const url = new URL(proxy.url)
    url.username = role
    const crowded = await openStore({ url: url.href })
    try {
      expect(await crowded.runs.list({ limit: 1 })).toEqual([])
      const runs = Array.from({ length: 40 }, (_, i) => sample.run(`run-${i}`))
      await Promise.all(runs.map((run) => crowded.runs.create(run)))
      expect(await Promise.all(runs.map(({ id }) => crowded.runs.get(id)))).toEqual(runs)
      expect(await failure(openStore({ url: url.href }))).toBeInstanceOf(TooManyConnectionsError)
    } finally {
      await crowded.close()
      await database.execute(`drop owned by ${role}; drop role ${role}`)
    }
  })

  it('takes too long, and is told to stop', async () => {
    store = await openStore({ url: `${proxy.url}?statement_timeout=200` })
    await onVersion('perform pg_sleep(30)')
    expect(await failure(store.versions.put(sample.version('a')))).toBeInstanceOf(TimedOutError)
    expect(await database.execute("select 1 from pg_stat_activity where wait_event = 'PgSleep'")).toEqual([])
    await store.runs.create(sample.run('run-1'))
  })

  it('never answers: the write is not waited for for ever, and its connection is not used again', async () => {
    store = await openStore({ url: `${proxy.url}?query_timeout=300` })
    await onVersion('perform pg_sleep(1)')
    expect(await failure(store.versions.put(sample.version('a')))).toBeInstanceOf(TimedOutError)
    await store.runs.create(sample.run('run-1'))
    expect(await store.runs.list({ limit: 1 })).toHaveLength(1)
  })

  it('finds two transactions in each other’s way: both are written', async () => {
    const one = await open()
    const two = await openStore({ url: proxy.url })
    // Each holds its first record for a while, and then wants the other's.
    await database.execute(`
      create function public.slow() returns trigger language plpgsql as
        $$ begin perform pg_sleep(0.2); return new; end $$;
      create trigger slow before insert on ratchet.trajectories for each row execute function public.slow()`)
    const deadlocks = async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_100))
      const [row] = await database.execute(
        'select deadlocks::int from pg_stat_database where datname = current_database()',
      )
      return row?.['deadlocks']
    }
    const records = [sample.recorded('a'), sample.recorded('b')]
    await Promise.all([one.trajectories.append(records), two.trajectories.append(records.toReversed())])
    await database.execute('drop function public.slow() cascade')
    expect(await one.trajectories.count({})).toBe(2)
    expect(await deadlocks()).toBeGreaterThan(0)
    await two.close()
  })
})

describe('a prepared statement', () => {
  it('that a migration elsewhere made void is made again', async () => {
    const { runs } = await open()
    await runs.create(sample.run('run-1'))
    for (let i = 0; i < 8; i++) expect(await runs.list({ limit: 1 })).toHaveLength(1)
    await database.execute('alter table ratchet.runs add column later text')
    expect(await runs.list({ limit: 1 })).toHaveLength(1)
    await database.execute('alter table ratchet.runs drop column later')
    expect(await runs.list({ limit: 1 })).toHaveLength(1)
  })
})
