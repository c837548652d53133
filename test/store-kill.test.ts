import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ReleaseId, RunId, TrajectoryId, VersionId } from '../src/core/index.ts'
import { LockedStoreError, openStore } from '../src/store/index.ts'
import { openSqlite } from '../src/store/sqlite-driver.ts'

const Acknowledgement = z.union([
  z.strictObject({ opened: z.number() }),
  z.strictObject({ refused: z.string(), message: z.string() }),
  z.strictObject({ run: RunId }),
  z.strictObject({ trajectories: z.array(TrajectoryId) }),
  z.strictObject({ checkpoint: z.number(), adapter: z.string() }),
  z.strictObject({ generation: z.number(), release: ReleaseId }),
])
type Acknowledgement = z.infer<typeof Acknowledgement>

let folder: string
let path: string
const children: ChildProcess[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-kill-'))
  path = join(folder, 'ratchet.db')
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** A writer process, what it acknowledged so far, and its end. */
function startWriter(round: string) {
  const script = fileURLToPath(new URL('store-kill.writer.mjs', import.meta.url))
  const child = spawn(process.execPath, [script, path, round], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const acknowledged: Acknowledgement[] = []
  let sayFirst = () => {}
  const first = new Promise<void>((resolve) => (sayFirst = resolve))
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    // A line cut short by the kill was not acknowledged.
    if (line.endsWith('}')) acknowledged.push(Acknowledgement.parse(JSON.parse(line)))
    sayFirst()
  })
  const closed = new Promise<void>((resolve) => lines.on('close', resolve))
  const exited = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  const ended = Promise.all([closed, exited])
  return {
    pid: child.pid,
    acknowledged,
    ended,
    /** Resolves when it opened the store, or was refused. */
    first,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Opens the store as its writer and holds that everything acknowledged is there, and that nothing is half there. */
async function expectWhole(acknowledged: readonly Acknowledgement[]): Promise<void> {
  const store = await openStore({ path })
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

  const database = await openSqlite(path, { readOnly: true })
  expect(database.all('pragma integrity_check')).toMatchObject([{ integrity_check: 'ok' }])
  expect(database.all('pragma foreign_key_check')).toEqual([])
  const halves = database.all(
    'select id from trajectories where id not in (select trajectory from trajectory_payloads)',
  )
  expect(halves).toEqual([])
  for (const row of database.all('select blobs from checkpoints')) {
    const { blobs } = z.object({ blobs: z.string() }).parse({ ...(row as object) })
    const { adapter } = z.object({ adapter: z.string() }).parse(JSON.parse(blobs))
    await store.blobs.get(adapter)
  }
  database.close()
  await store.close()
}

describe('kill -9', () => {
  it('loses nothing that was acknowledged, at 30 random moments of one store', async () => {
    let written = 0
    for (let round = 0; round < 30; round++) {
      const writer = startWriter(String(round))
      await writer.first
      await delay(Math.random() * 200)
      await writer.kill()
      await expectWhole(writer.acknowledged)
      written += writer.acknowledged.length
    }
    expect(written).toBeGreaterThan(300)
  })

  it('leaves a store that opens, while it is being made', async () => {
    const timed = startWriter('timed')
    const begun = performance.now()
    await timed.first
    const takes = performance.now() - begun
    await timed.kill()
    for (let round = 0; round < 12; round++) {
      rmSync(folder, { recursive: true })
      const writer = startWriter(String(round))
      await delay(takes * (0.5 + Math.random() * 0.6))
      await writer.kill()
      await expectWhole(writer.acknowledged)
    }
  })
})

describe('one writer', () => {
  it('is all that a store has while it lives, and makes room when it is killed', async () => {
    const writer = startWriter('0')
    await writer.first
    const refusal = await openStore({ path }).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(LockedStoreError)
    expect((refusal as LockedStoreError).writer?.pid).toBe(writer.pid)

    const reader = await openStore({ path, readonly: true })
    expect(await reader.trajectories.count({})).toBeGreaterThanOrEqual(0)
    await reader.close()

    await writer.kill()
    await expectWhole(writer.acknowledged)
  })

  it('is let in when two start at once on a store that is not there yet', async () => {
    for (let round = 0; round < 3; round++) {
      rmSync(folder, { recursive: true, force: true })
      const writers = [startWriter('a'), startWriter('b')]
      await Promise.all(writers.map(({ first }) => first))
      await delay(50)
      await Promise.all(writers.map((writer) => writer.kill()))
      const refused = writers.filter(({ acknowledged }) => acknowledged.some((line) => 'refused' in line))
      expect(refused).toHaveLength(1)
      expect(refused[0]?.acknowledged).toMatchObject([{ refused: 'store/locked' }])
      for (const { acknowledged } of writers) await expectWhole(acknowledged)
    }
  })
})
