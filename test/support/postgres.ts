import { randomUUID } from 'node:crypto'
import { Client } from 'pg'

/** The server that tests use: a PostgreSQL where the user may make databases. */
const server = process.env['RATCHET_TEST_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432/postgres'

const emptied = `do $$
  declare stored record;
  begin
    set local session_replication_role = replica;
    for stored in select tablename from pg_tables where schemaname = 'ratchet' and tablename <> 'migrations' loop
      execute format('delete from ratchet.%I', stored.tablename);
    end loop;
  end
$$`

/** A database of a test's own. */
export interface TestDatabase {
  readonly url: string
  /** Runs statements, as the server's own user. Rows of the last one. */
  readonly execute: (sql: string) => Promise<Record<string, unknown>[]>
  /** Takes every record out of the store, so that the next test begins with an empty one; quicker than a new database. */
  readonly clear: () => Promise<void>
  readonly drop: () => Promise<void>
}

/** Makes an empty database. Fails where there is no server: what is not tested on PostgreSQL does not count as tested. */
export async function makeTestDatabase(options = ''): Promise<TestDatabase> {
  const name = `ratchet_test_${randomUUID().replaceAll('-', '')}`
  await execute(server, `create database ${name} ${options}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    execute: (sql) => execute(url.href, sql),
    clear: async () => {
      await execute(url.href, emptied)
    },
    drop: async () => {
      await execute(server, `drop database if exists ${name} with (force)`)
    },
  }
}

interface Rows {
  readonly rows: Record<string, unknown>[]
}

async function execute(connectionString: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString })
  try {
    await client.connect()
  } catch (error) {
    throw new Error('These tests need a PostgreSQL: start one, and set RATCHET_TEST_POSTGRES to its URL.', {
      cause: error,
    })
  }
  try {
    const result: Rows | readonly Rows[] = await client.query<Record<string, unknown>>(sql)
    const last = Array.isArray(result) ? (result as readonly Rows[]).at(-1) : (result as Rows)
    return last?.rows ?? []
  } finally {
    await client.end()
  }
}
