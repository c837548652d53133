// Where a run records: folders of one disk for SQLite, databases of one server for PostgreSQL; gone at its end.
import { randomUUID } from 'node:crypto'
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'

/**
 * @param names of the stores.
 * @param server a PostgreSQL server's URL; SQLite in `folder` without one.
 * @returns by name: `store`, as `ratchet serve` is told it; `location`, as `openStore` is; `bytes()`, what it takes on the disk.
 */
export async function openPlaces({ names, folder, server }) {
  return server === undefined ? sqlitePlaces(names, folder) : await postgresPlaces(names, server)
}

function sqlitePlaces(names, folder) {
  const place = (store) => ({
    store,
    location: { path: join(store, 'ratchet.db') },
    bytes: async () => bytesOf(store),
  })
  return {
    ...Object.fromEntries(names.map((name) => [name, place(join(folder, name))])),
    remove: async () => undefined,
  }
}

async function postgresPlaces(names, server) {
  const databases = names.map((name) => `ratchet_bench_${name}_${randomUUID().replaceAll('-', '')}`)
  const onServer = async (...statements) => {
    const client = new Client({ connectionString: server })
    await client.connect()
    try {
      const results = []
      for (const statement of statements) results.push(await client.query(statement))
      return results
    } finally {
      await client.end()
    }
  }
  const place = (database) => {
    const { href } = Object.assign(new URL(server), { pathname: `/${database}` })
    const bytes = async () => {
      const [{ rows }] = await onServer(`select pg_database_size('${database}') as bytes`)
      return Number(rows[0].bytes)
    }
    return { store: href, location: { url: href }, bytes }
  }
  await onServer(...databases.map((name) => `create database ${name}`))
  return {
    ...Object.fromEntries(names.map((name, i) => [name, place(databases[i])])),
    remove: () => onServer(...databases.map((name) => `drop database if exists ${name} with (force)`)),
  }
}

/** What a folder's files take on the disk, whatever their lengths. */
function bytesOf(path) {
  const { blocks, ...stat } = lstatSync(path)
  const own = blocks * 512
  if ((stat.mode & 0o170000) !== 0o040000) return own
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), own)
}
