import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runRecord } from '../../test/support/run-record.ts'
import { type Json, type Run, RunId } from '../core/index.ts'
import { openStore } from '../store/index.ts'
import { LearnConfig } from '../recipe/index.ts'
import { planOf } from './plan.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-plan-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** As a run keeps it: with the precision that was chosen. */
const config = LearnConfig.parse({ agent: 'shopkeeper', schedule: { updates: 3 }, precision: 'float32' })

/** A store with these runs, the newest last. */
async function storeWith(...runs: readonly Partial<Run>[]): Promise<string> {
  const store = join(folder, 'store')
  const opened = await openStore({ path: join(store, 'ratchet.db') })
  for (const [i, run] of runs.entries()) {
    const about: Partial<Run> = {
      id: RunId.parse(`run-${i}`),
      agent: 'shopkeeper',
      config: { learn: config as unknown as Json, control: false, deterministic: true },
      seed: 4,
      startedAt: i,
    }
    await opened.runs.create(runRecord({ ...about, ...run }))
  }
  await opened.close()
  return store
}

describe('a new run', () => {
  it('is the main job when nothing is said', async () => {
    const plan = await planOf({ store: folder })
    expect(plan).toEqual({ config: LearnConfig.parse({}), seed: 0, control: false, deterministic: false, resume: null })
  })

  it('is what the file and the flags say', async () => {
    const file = join(folder, 'learn.json')
    writeFileSync(file, JSON.stringify({ agent: 'x', gate: { alpha: 0.01 } }))
    const plan = await planOf({ store: folder, config: file, seed: 9, control: true })
    expect(plan).toMatchObject({ seed: 9, control: true, config: { agent: 'x', gate: { alpha: 0.01, margin: 0.02 } } })
  })

  it('has the model of --model and the precision of --precision, whatever the file says', async () => {
    const file = join(folder, 'learn.json')
    writeFileSync(file, JSON.stringify({ agent: 'x', model: 'theirs' }))
    expect((await planOf({ store: folder, config: file, model: 'mine' })).config).toMatchObject({
      agent: 'x',
      model: 'mine',
    })
    expect((await planOf({ store: folder, model: 'mine' })).config).toEqual(LearnConfig.parse({ model: 'mine' }))
    const eight = await planOf({ store: folder, config: file, precision: 'int8' })
    expect(eight.config).toMatchObject({ model: 'theirs', precision: 'int8' })
  })

  it('has its model at the server of the flags, which say over the file what it is', async () => {
    const file = join(folder, 'learn.json')
    writeFileSync(file, JSON.stringify({ server: { url: 'http://127.0.0.1:1', kind: 'skyrl-jax', folder: 'theirs' } }))
    const flags = { store: folder, server: 'http://127.0.0.1:8000' }
    expect((await planOf({ ...flags, serverKind: 'skyrl-jax', serverFolder: 'mine' })).config.server).toEqual({
      url: flags.server,
      kind: 'skyrl-jax',
      folder: 'mine',
    })
    const over = await planOf({ ...flags, config: file, serverFolder: 'mine' })
    expect(over.config.server).toEqual({ url: flags.server, kind: 'skyrl-jax', folder: 'mine' })
    for (const alone of [{ serverKind: 'tinker' as const }, { serverFolder: 'mine' }])
      await expect(planOf({ store: folder, ...alone })).rejects.toMatchObject({ code: 'input/no-server' })
  })

  it('ends by --minutes where it is good enough, whatever the file says of that, and keeps the rest of the schedule', async () => {
    const file = join(folder, 'learn.json')
    writeFileSync(file, JSON.stringify({ schedule: { updates: 3 } }))
    const { config } = await planOf({ store: folder, config: file, minutes: 2.5 })
    expect(config.schedule).toMatchObject({ updates: 3, goodEnough: { success: 0.85, seconds: 150 } })
    const { config: alone } = await planOf({ store: folder, minutes: 6 })
    expect(alone).toEqual(LearnConfig.parse({ schedule: { goodEnough: { success: 0.85, seconds: 360 } } }))
  })
})

describe('a run to resume', () => {
  it('is the latest that did not complete, with everything it began with', async () => {
    const store = await storeWith({ status: 'failed' }, { status: 'interrupted' }, { status: 'completed' })
    const plan = await planOf({ store, resume: true })
    expect(plan).toEqual({ config, seed: 4, control: false, deterministic: true, resume: 'run-1' })
    expect((await planOf({ store, resume: 'run-0' })).resume).toBe('run-0')
  })

  it('goes on in float32 where it began before there was another precision', async () => {
    const { precision: _, ...earlier } = config
    const store = await storeWith({ config: { learn: earlier as unknown as Json } })
    expect((await planOf({ store, resume: true })).config.precision).toBe('float32')
  })

  it('is none of a program of one’s own, which keeps another configuration', async () => {
    const store = await storeWith({ config: { own: true } })
    await expect(planOf({ store, resume: true })).rejects.toMatchObject({ code: 'input/invalid' })
  })

  it('is the latest of all when all completed: its end is told again', async () => {
    const store = await storeWith({ status: 'completed' }, { status: 'completed' })
    expect((await planOf({ store, resume: true })).resume).toBe('run-1')
  })

  it('must be there', async () => {
    const store = await storeWith()
    await expect(planOf({ store, resume: true })).rejects.toThrow('There is no run in this store.')
    await expect(planOf({ store, resume: 'run-9' })).rejects.toThrow('There is no run "run-9" in this store.')
  })

  it('takes flags that say what it began with, and refuses others', async () => {
    const store = await storeWith({})
    const same = join(folder, 'same.json')
    writeFileSync(same, JSON.stringify({ agent: 'shopkeeper', schedule: { updates: 3 } }))
    const plan = await planOf({ store, resume: true, seed: 4, deterministic: true, config: same })
    expect(plan.resume).toBe('run-0')
    expect((await planOf({ store, resume: true, model: config.model })).resume).toBe('run-0')
    for (const precision of ['auto', 'float32'] as const)
      expect((await planOf({ store, resume: true, precision })).config.precision).toBe('float32')
    for (const flags of [
      { seed: 0 },
      { control: true },
      { newStore: true },
      { model: 'another' },
      { precision: 'int8' as const },
      { minutes: 6 },
      { server: 'http://127.0.0.1:8000', serverKind: 'tinker' as const },
    ])
      await expect(planOf({ store, resume: true, ...flags })).rejects.toMatchObject({ code: 'input/resume-differs' })
    const other = join(folder, 'other.json')
    writeFileSync(other, '{}')
    await expect(planOf({ store, resume: true, config: other })).rejects.toThrow('did not begin with this --config')
  })
})
