import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ReleaseId, RunId, TrajectoryId, VersionId } from '../src/core/index.ts'
import { LockedStoreError, openStore, type StoreLocation } from '../src/store/index.ts'
import { migrations } from '../src/store/migrations.ts'
import { openSqlite } from '../src/store/sqlite-driver.ts'
import { kills } from './support/kills.ts'
import { makeTestDatabase, type TestDatabase } from './support/postgres.ts'

const Acknowledgement = z.union([
  z.strictObject({ opened: z.number() }),
  z.strictObject({ refused: z.string(), message: z.string() }),
  z.strictObject({ failed: z.string() }),
  z.strictObject({ run: RunId }),
  z.strictObject({ trajectories: z.array(TrajectoryId) }),
  z.strictObject({ checkpoint: z.number(), adapter: z.string() }),
  z.strictObject({ generation: z.number(), release: ReleaseId }),
])
type Acknowledgement = z.infer<typeof Acknowledgement>

/** A place for a store that is not there yet, and the database's own view of what is in it. */
interface Place {
  readonly location: StoreLocation
  /** Rows of the database itself, not of the store. */
  query(sql: string): Promise<readonly unknown[]>
  remove(): Promise<void>
}

async function sqlitePlace(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-kill-'))
  const path = join(folder, 'new', 'ratchet.db')
  return {
    location: { path },
    async query(sql) {
      const database = await openSqlite(path, { readOnly: true })
      expect(database.all('pragma integrity_check')).toMatchObject([{ integrity_check: 'ok' }])
      expect(database.all('pragma foreign_key_check')).toEqual([])
      const rows = database.all(sql)
      database.close()
      return rows
    },
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function postgresPlace(): Promise<Place & { readonly database: TestDatabase }> {
  const database = await makeTestDatabase()
  const { url } = database
  return {
    database,
    location: { url },
    query: (sql) => database.execute(`set search_path = ratchet; ${sql}`),
    remove: database.drop,
  }
}

const places: Place[] = []
const children: ChildProcess[] = []
const made = <P extends Place>(place: P): P => {
  places.push(place)
  return place
}
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const place of places.splice(0)) await place.remove()
})

/** A writer process, what it acknowledged so far, and its end. */
function startWriter({ location }: Place, round: string) {
  const script = fileURLToPath(new URL('store-kill.writer.mjs', import.meta.url))
  const where = 'url' in location ? location.url : location.path
  const child = spawn(process.execPath, [script, where, round], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const acknowledged: Acknowledgement[] = []
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    // A line cut short by the kill was not acknowledged.
    if (line.endsWith('}')) acknowledged.push(Acknowledgement.parse(JSON.parse(line)))
  })
  const closed = new Promise<void>((resolve) => lines.on('close', resolve))
  const exited = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  const ended = Promise.all([closed, exited])
  const isAlive = () => child.exitCode === null && child.signalCode === null
  /** Resolves when it acknowledged so much, or ended. */
  async function acknowledges(count: number) {
    while (acknowledged.length < count && isAlive()) await Promise.race([once(lines, 'line'), ended])
  }
  return {
    pid: child.pid,
    acknowledged,
    acknowledges,
    ended,
    /** Resolves when it opened the store, or was refused. */
    first: acknowledges(1),
    isAlive,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Opens the store as a writer and holds that everything acknowledged is there, and that nothing is half there. */
async function expectWhole(place: Place, acknowledged: readonly Acknowledgement[]): Promise<void> {
  const store = await openStore(place.location)
  let run = RunId.parse('none')
  for (const line of acknowledged) {
    if ('run' in line) {
      run = line.run
      expect(await store.runs.get(run)).not.toBeNull()
    } else if ('trajectories' in line) {
      for (const id of line.trajectories) {
        const stored = await store.trajectories.get(id)
        expect(stored?.trajectory.task.instruction, `trajectory ${id}`).toBe(`${id} `.repeat(300))
      }
    } else if ('checkpoint' in line) {
      const latest = await store.runs.latestCheckpoint(run)
      expect(latest?.sequence).toBeGreaterThanOrEqual(line.checkpoint)
      await store.blobs.get(line.adapter)
    } else if ('generation' in line) {
      const activations = await store.releases.activations('support')
      expect(activations[line.generation - 1]?.release).toBe(line.release)
    }
  }
  const activations = await store.releases.activations('support')
  expect(activations.map(({ generation }) => generation)).toEqual(activations.map((_, i) => i + 1))
  for (const { release } of activations) {
    const served = await store.releases.get(release)
    expect(await store.versions.get(VersionId.parse(served?.versions['system']))).not.toBeNull()
  }

  const halves = 'select id from trajectories where id not in (select trajectory from trajectory_payloads)'
  expect(await place.query(halves)).toEqual([])
  for (const row of await place.query('select blobs from checkpoints')) {
    const { blobs } = z.object({ blobs: z.string() }).parse({ ...(row as object) })
    const { adapter } = z.object({ adapter: z.string() }).parse(JSON.parse(blobs))
    await store.blobs.get(adapter)
  }
  await store.close()
}

describe.each([
  ['SQLite', sqlitePlace],
  ['PostgreSQL', postgresPlace],
])('kill -9 on %s', (_, makePlace) => {
  it(`loses nothing that was acknowledged, at ${kills} random moments of one store`, async () => {
    const place = made(await makePlace())
    for (let round = 0; round < kills; round++) {
      const writer = startWriter(place, String(round))
      await writer.acknowledges(1 + (round % 20))
      await delay(Math.random() * 20)
      expect(writer.isAlive()).toBe(true)
      await writer.kill()
      await expectWhole(place, writer.acknowledged)
    }
  })

  it('leaves a store that opens, while it is being made', async () => {
    const timed = startWriter(made(await makePlace()), 'timed')
    const begun = performance.now()
    await timed.first
    const takes = performance.now() - begun
    await timed.kill()
    for (let round = 0; round < kills / 2; round++) {
      const place = made(await makePlace())
      const writer = startWriter(place, String(round))
      await delay(takes * (0.5 + Math.random() * 0.6))
      await writer.kill()
      await expectWhole(place, writer.acknowledged)
    }
  })
})

describe('one writer on SQLite', () => {
  let place: Place
  beforeEach(async () => {
    place = made(await sqlitePlace())
  })

  it('is all that a store has while it lives, and makes room when it is killed', async () => {
    const writer = startWriter(place, '0')
    await writer.first
    const refusal = await openStore(place.location).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(LockedStoreError)
    expect((refusal as LockedStoreError).writer?.pid).toBe(writer.pid)

    const reader = await openStore({ ...place.location, readonly: true })
    expect(await reader.trajectories.count({})).toBeGreaterThanOrEqual(0)
    await reader.close()

    await writer.kill()
    await expectWhole(place, writer.acknowledged)
  })

  it('is let in when two start at once on a store that is not there yet', async () => {
    for (let round = 0; round < 3; round++) {
      const place = made(await sqlitePlace())
      const writers = [startWriter(place, 'a'), startWriter(place, 'b')]
      await Promise.all(writers.map(({ first }) => first))
      await delay(50)
      await Promise.all(writers.map((writer) => writer.kill()))
      const refused = writers.filter(({ acknowledged }) => acknowledged.some((line) => 'refused' in line))
      expect(refused).toHaveLength(1)
      expect(refused[0]?.acknowledged).toMatchObject([{ refused: 'store/locked' }])
      for (const { acknowledged } of writers) await expectWhole(place, acknowledged)
    }
  })
})

describe('many writers on PostgreSQL', () => {
  it('are all let in when they start at once on an empty database, and any of them may be killed', async () => {
    for (let round = 0; round < 3; round++) {
      const place = made(await postgresPlace())
      const writers = ['a', 'b', 'c', 'd'].map((name) => startWriter(place, name))
      await Promise.all(writers.map(({ first }) => first))
      const applied = await place.query('select name, count(*)::int from migrations group by name order by name')
      expect(applied).toEqual(migrations.map(({ name }) => ({ name, count: 1 })))
      for (const writer of writers) {
        await delay(Math.random() * 100)
        expect(writer.isAlive()).toBe(true)
        await writer.kill()
      }
      for (const { acknowledged } of writers) {
        expect(acknowledged.some((line) => 'opened' in line)).toBe(true)
        await expectWhole(place, acknowledged)
      }
    }
  })

  it('outlive every connection that the server ends, at any moment, and lose nothing', async () => {
    const place = made(await postgresPlace())
    const writers = ['a', 'b'].map((name) => startWriter(place, name))
    await Promise.all(writers.map(({ first }) => first))
    for (let round = 0; round < 40; round++) {
      await delay(Math.random() * 60)
      await place.database.execute(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`)
    }
    const before = writers.map(({ acknowledged }) => acknowledged.length)
    await delay(300)
    for (const [i, writer] of writers.entries()) {
      expect(writer.isAlive()).toBe(true)
      expect(writer.acknowledged.length).toBeGreaterThan(before[i] ?? 0)
      await writer.kill()
      await expectWhole(place, writer.acknowledged)
    }
  })
})
