import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openStore } from './open-store.ts'
import { sample } from './store.conformance.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-clock-'))
  path = join(folder, 'ratchet.db')
  // Timers go on: it is the date alone that an operator, or NTP, sets back.
  vi.useFakeTimers({ toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(folder, { recursive: true, force: true })
})

const setClock = (year: number) => vi.setSystemTime(new Date(`${year}-06-01`))

// Order is by sequence and times are the callers'. Of its own the store reads the clock for three things: when a
// migration was applied and since when a writer holds the lock, which are only shown, and the age of half-written blobs.
it('a clock that steps back changes no order, locks nobody out and loses nothing', async () => {
  setClock(2030)
  const before = await openStore({ path })
  await before.runs.create(sample.run('first'))
  await before.trajectories.append([sample.recorded('t1')])
  setClock(2020)
  await before.runs.create(sample.run('second'))
  await before.trajectories.append([sample.recorded('t2')])
  await before.close()

  const after = await openStore({ path })
  await after.trajectories.append([sample.recorded('t3')])
  const listed = await after.trajectories.list({ limit: 9 })
  expect(listed.map(({ trajectory }) => trajectory.id)).toEqual(['t1', 't2', 't3'])
  expect((await after.runs.list({ limit: 9 })).map(({ id }) => id)).toEqual(['second', 'first'])
  await after.backup(join(folder, 'copy'))
  await after.close()
})

it('what a dead process left half-written stays until the clock has caught up, and is never taken for a blob', async () => {
  const incoming = join(folder, 'blobs', 'incoming')
  mkdirSync(incoming, { recursive: true })
  // The file system's own clock dates it now.
  writeFileSync(join(incoming, 'half'), 'half')
  setClock(2020)
  await (await openStore({ path })).close()
  expect(readdirSync(incoming)).toEqual(['half'])
  setClock(2999)
  await (await openStore({ path })).close()
  expect(readdirSync(incoming)).toEqual([])
})
