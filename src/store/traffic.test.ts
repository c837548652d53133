import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { rng } from '../core/index.ts'
import { ClosedStoreError } from './errors/index.ts'
import { openMemoryStore, openStore } from './open-store.ts'
import { openSqlite } from './sqlite-driver.ts'
import { sample } from './store.conformance.ts'
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

  it('holds no bytes of what was removed, its log included, while it is open', async () => {
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
    expect(readFileSync(join(folder, 'ratchet.db-wal')).includes('ada lives')).toBe(true)
    expect(await store.trajectories.remove({ subject: 'ada' }, { dryRun: false })).toMatchObject({ remains: 'nowhere' })
    expect(holds('ada')).toBe(false)
    expect(holds('bob lives')).toBe(true)
    await store.close()
    expect(holds('ada')).toBe(false)
  })

  it('says that its log holds what was removed as long as somebody reads, and empties it later', async () => {
    const store = await openStore({ path })
    const ada = traffic.call('t1', 'c1', { origin: { subject: 'ada' } })
    await store.traffic.append(ada)
    const reader = await openSqlite(path, { readOnly: true })
    reader.exec('begin')
    reader.all('select * from trajectories')
    expect(await store.trajectories.remove({ subject: 'ada' }, { dryRun: false })).toMatchObject({ remains: 'log' })
    expect(holds('"ada"')).toBe(true)
    // Nobody waits for who reads.
    await store.traffic.append(traffic.call('t2', 'c2'))
    reader.exec('commit')
    expect(await store.trajectories.remove({ subject: 'ada' }, { dryRun: false })).toMatchObject({ remains: 'nowhere' })
    expect(holds('"ada"')).toBe(false)
    reader.close()
    await store.close()
  })

  it('holds no bytes of what was removed, however full its pages were and whatever was written between', async () => {
    const store = await openStore({ path })
    const random = rng('erasure', 'pages')
    const people = Array.from({ length: 40 }, (_, i) => `person-${i}-of-this-test`)
    const gone: string[] = []
    let calls = 0
    for (let round = 0; round < 12; round++) {
      const some = Array.from({ length: 60 }, () => people[Math.floor(random.next() * people.length)] ?? '')
      await Promise.all(
        some.map((subject) => {
          const call = `c${(calls += 1)}`
          const id = `t-${subject}-${Math.floor(random.next() * 6)}`
          const content = `${subject} says so. `.repeat(1 + Math.floor(random.next() ** 4 * 900))
          const nodes = [{ id: call, parent: null, message: { role: 'user', content }, spans: [] }]
          return store.traffic.append(
            traffic.call(id, call, {
              origin: { subject, session: `session of ${subject} ${call}` },
              turns: [`digest ${call} ${subject}`],
              identity: { key: `request ${call} ${subject}`, body: 'b' },
              head: { startedAt: Date.now() + 60_000 },
              part: { nodes, steps: [], decisions: [], endedAt: Date.now() },
            }),
          )
        }),
      )
      for (const subject of some.slice(0, 20)) {
        const trajectory = `t-${subject}-0`
        const signals = [{ key: `s${(calls += 1)} ${subject}`, value: `${subject} complains` }]
        await store.signals.append(
          signals.map((one) =>
            sample.signal(one.key, { ...one, trajectory, tenant: 'acme', reporter: `k:${subject}` }),
          ),
        )
      }
      const subject = people.splice(Math.floor(random.next() * people.length), 1)[0] ?? ''
      await store.trajectories.remove({ subject, tenant: 'acme' }, { dryRun: false })
      gone.push(subject)
      expect(gone.filter((one) => holds(one))).toEqual([])
    }
    expect(people.every((one) => holds(one))).toBe(true)
    const connection = await openSqlite(path, { readOnly: true })
    expect(connection.all('pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
    connection.close()
    await store.close()
  }, 60_000)

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
