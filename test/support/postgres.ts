import { randomUUID } from 'node:crypto'
import { Client } from 'pg'

/** The server that tests use: a PostgreSQL where the user may make databases. */
const server = process.env['RATCHET_TEST_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432/postgres'

/** A database of a test's own. */
export interface TestDatabase {
  readonly url: string
  /** Runs statements, as the server's own user. Rows of the last one. */
  execute(sql: string): Promise<Record<string, unknown>[]>
  /** Takes everything of Ratchet's out, so that the next store begins empty. */
  clear(): Promise<void>
  drop(): Promise<void>
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
      await execute(url.href, 'drop schema if exists ratchet cascade')
    },
    drop: async () => {
      await execute(server, `drop database if exists ${name} with (force)`)
    },
  }
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
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}
