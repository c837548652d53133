import { Client } from 'pg'

/**
 * Whether the tests have a PostgreSQL. Where RATCHET_TEST_POSTGRES names one, they have: they fail if it does not answer,
 * as in CI. Where nothing is named, the machine's own counts if it is there; without it the tests that need one are left
 * out of the fast suite, so that a fresh clone passes on any machine, and this says so.
 */
export async function postgresHere(): Promise<boolean> {
  if (process.env['RATCHET_TEST_POSTGRES']) return true
  const client = new Client({
    connectionString: 'postgres://postgres@127.0.0.1:5432/postgres',
    connectionTimeoutMillis: 3_000,
  })
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    process.stderr.write(
      'PostgreSQL is not here: what needs it is not tested. Start one and set RATCHET_TEST_POSTGRES to its URL.\n',
    )
    return false
  }
}
