import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ClosedStoreError } from './errors/index.ts'
import { openMemoryStore, openStore } from './open-store.ts'
import { openSqlite } from './sqlite-driver.ts'
import { traffic, trafficConformance } from './traffic.conformance.ts'

trafficConformance('memory', openMemoryStore)

describe('half answers', () => {
  it('are not given up when they were told of just now', async () => {
    const store = await openMemoryStore()
    await store.traffic.savePending(traffic.pending('t1', 'c1', 100))
    const recovered = store.traffic.recoverPending(200)
    await store.traffic.savePending(traffic.pending('t1', 'c1', 300))
    expect(await recovered).toBe(0)
    expect(await store.traffic.recoverPending(301)).toBe(1)
    await store.close()
  })
})

describe('a file', () => {
  let folder: string
  let path: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ratchet-traffic-'))
    path = join(folder, 'ratchet.db')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const holds = (text: string) =>
    readdirSync(folder).some((name) => name.startsWith('ratchet.db') && readFileSync(join(folder, name)).includes(text))

  it('has nothing pending of a call that is committed, however late it was told of', async () => {
    const store = await openStore({ path })
    const pending = async () => {
      const connection = await openSqlite(path, { readOnly: true })
      const rows = connection.all('select call from pending_calls')
      connection.close()
      return rows.length
    }
    await store.traffic.savePending(traffic.pending('t1', 'c1', 100))
    expect(await pending()).toBe(1)
    await store.traffic.append(traffic.call('t1', 'c1'))
    expect(await pending()).toBe(0)
    await store.traffic.savePending(traffic.pending('t1', 'c1', 200))
    expect(await pending()).toBe(0)
    await store.close()
  })

  it.each(['no JSON', '{"head":{"origin":{"subject":"ada"}}}', '{}'])(
    'is rid of a half answer that nobody can read (%s), with what else is removed',
    async (payload) => {
      const store = await openStore({ path })
      const connection = await openSqlite(path)
      await store.traffic.append(traffic.call('t1', 'c1', { origin: { subject: 'ada' } }))
      for (const id of ['t2', 't3']) await store.traffic.savePending(traffic.pending(id, `p-${id}`, 100))
      connection.exec(`update pending_calls set payload = '${payload}' where trajectory = 't2'`)
      const erase = (dryRun: boolean) => store.trajectories.remove({ subject: 'ada' }, { dryRun })
      expect(await erase(true)).toMatchObject({ trajectories: 2 })
      expect(await erase(false)).toMatchObject({ trajectories: 2 })
      expect(connection.all('select trajectory from pending_calls')).toEqual([{ trajectory: 't3' }])
      connection.close()
      await store.close()
    },
  )

  it('is rid of the half answers of a person whose rest nobody can read', async () => {
    const store = await openStore({ path })
    const connection = await openSqlite(path)
    for (const [id, subject] of [
      ['t1', 'ada'],
      ['t2', 'bob'],
    ] as const) {
      await store.traffic.savePending(traffic.pending(id, `p-${id}`, 100, { origin: { subject } }))
    }
    connection.exec(`update pending_calls set payload = replace(payload, '"part"', '"bit"')`)
    expect(await store.trajectories.remove({ subject: 'ada' }, { dryRun: false })).toMatchObject({ trajectories: 1 })
    expect(connection.all('select trajectory from pending_calls')).toEqual([{ trajectory: 't2' }])
    connection.close()
    await store.close()
  })

  it('holds no bytes of what was removed, once it is closed', async () => {
    const store = await openStore({ path })
    for (const [id, subject] of [
      ['t1', 'ada'],
      ['t2', 'bob'],
    ] as const) {
      const secret = `${subject} lives at the harbour. `
      const nodes = [
        {
          id: 'n0',
          parent: null,
          message: { role: 'user', content: secret.repeat(id === 't1' ? 1_000 : 1) },
          spans: [],
        },
      ]
      const about = { origin: { subject }, head: { task: { id: 'task', instruction: secret } } }
      const part = { nodes, steps: [], decisions: [] }
      await store.traffic.append(traffic.call(id, `c-${id}`, { ...about, part }))
      await store.traffic.savePending(traffic.pending(id, `p-${id}`, 1, about))
    }
    expect(holds('ada lives')).toBe(true)
    await store.trajectories.remove({ subject: 'ada' }, { dryRun: false })
    await store.close()
    expect(holds('ada')).toBe(false)
    expect(holds('bob lives')).toBe(true)
  })

  it('goes on being removed from where that was cut off', async () => {
    const store = await openStore({ path })
    const calls = Array.from({ length: 1_000 }, (_, i) =>
      traffic.call(`t${i}`, `c${i}`, { origin: { subject: 'ada' } }),
    )
    await Promise.all(calls.map((call) => store.traffic.append(call)))
    const cut = store.trajectories.remove({ subject: 'ada' }, { dryRun: false })
    const refusal = expect(cut).rejects.toThrow(ClosedStoreError)
    await vi.waitFor(async () => expect(await store.trajectories.count({})).toBeLessThan(1_000), { interval: 1 })
    await store.close()
    await refusal

    const again = await openStore({ path })
    const left = await again.trajectories.count({})
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThan(1_000)
    expect(await again.trajectories.list({ limit: 1_000 })).toHaveLength(left)
    expect(await again.trajectories.remove({ subject: 'ada' }, { dryRun: false })).toMatchObject({ trajectories: left })
    expect(await again.trajectories.count({})).toBe(0)
    await again.close()
  })
})
