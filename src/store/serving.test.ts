import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CanaryId, TrajectoryId } from '../core/index.ts'
import { alertConformance } from './alerts.conformance.ts'
import { auditConformance } from './audits.conformance.ts'
import { canaries, canaryConformance } from './canaries.conformance.ts'
import { sqliteEngine } from './engine.ts'
import { StoreError } from './errors/index.ts'
import { claimConformance } from './claims.conformance.ts'
import { leaseConformance } from './leases.conformance.ts'
import { levelConformance } from './levels.conformance.ts'
import { migrate } from './migrate.ts'
import { migrations } from './migrations.ts'
import { openMemoryStore, openStore } from './open-store.ts'
import { servingConformance } from './serving.conformance.ts'
import { kyselyOver, openSqlite } from './sqlite-driver.ts'
import { sample } from './store.conformance.ts'
import type { Tables } from './tables.ts'
import { traffic } from './traffic.conformance.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-serving-'))
  path = join(folder, 'ratchet.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

for (const [name, open] of [
  ['SQLite file', () => openStore({ path, thread: 'main' })],
  ['memory', openMemoryStore],
] as const) {
  servingConformance(name, open)
  canaryConformance(name, open)
  leaseConformance(name, open)
  levelConformance(name, open)
  claimConformance(name, open)
  alertConformance(name, open)
  auditConformance(name, open)
}

describe('a SQLite file', () => {
  it('keeps all of it, and a copy has it too', async () => {
    const first = await openStore({ path, thread: 'main' })
    await first.releases.put(sample.release('a'))
    await first.releases.activate(sample.activation(sample.release('a'), 1))
    await first.canaries.put(canaries.canary('k'))
    const lease = await first.leases.acquire('learn:support', 'one', { now: 1_000, ttlMs: 100 })
    await first.backup(join(folder, 'copy'))
    await first.close()

    for (const file of [path, join(folder, 'copy', 'ratchet.db')]) {
      const again = await openStore({ path: file, thread: 'main' })
      expect(await again.releases.revision()).toBe(2)
      expect(await again.canaries.running()).toEqual([canaries.canary('k')])
      expect(await again.leases.get('learn:support')).toEqual(lease)
      expect(await again.leases.acquire('learn:support', 'two', { now: 1_050, ttlMs: 100 })).toBeNull()
      expect(await again.leases.acquire('learn:support', 'two', { now: 1_100, ttlMs: 100 })).toMatchObject({ token: 2 })
      await again.close()
    }
  })

  it('holds itself that an agent has one running canary', async () => {
    const store = await openStore({ path, thread: 'main' })
    await store.releases.put(sample.release('a'))
    await store.canaries.put(canaries.canary('k'))
    await store.close()
    const connection = await openSqlite(path)
    const insert = (status: string) =>
      connection.exec(`insert into canaries (id, agent, status, baseline, canary)
        values ('${status}', 'support', '${status}', 'a', '{}')`)
    insert('ended')
    expect(() => insert('running')).toThrow(StoreError)
    connection.close()
  })

  it('of before canaries is brought up to date, with its traffic', async () => {
    const connection = await openSqlite(path)
    const db = kyselyOver<Tables>(connection)
    await migrate({ db, engine: sqliteEngine, path }, migrations.slice(0, 2))
    const { head, part } = traffic.call('t1', 'c1', { origin: { agent: 'support' } })
    const { servedBy: _, ...origin } = head.origin
    await db
      .insertInto('trajectories')
      .values({
        id: head.id,
        run: null,
        task: head.task.id,
        task_group: head.id,
        split: 'train',
        tier: null,
        stop_reason: part.stopReason,
        reward_status: 'missing',
        reward_value: null,
        reward: JSON.stringify({ status: 'missing', value: null, parts: {}, reason: 'It was not scored yet.' }),
        started_at: head.startedAt,
        seconds: 1,
        origin: 'traffic',
        tenant: origin.tenant,
        agent: origin.agent,
        head: JSON.stringify({ ...head, origin }),
      } as never)
      .execute()
    await db
      .insertInto('trajectory_parts')
      .values({ call: 'c1', trajectory: head.id, payload: JSON.stringify(part), at: 1 })
      .execute()
    connection.close()

    const store = await openStore({ path, thread: 'main' })
    const known = await store.trajectories.get(TrajectoryId.parse('t1'))
    expect(known?.trajectory.origin).toEqual({ ...origin, servedBy: null })
    await store.traffic.append(
      traffic.call('t1', 'c2', { after: 'c1-a', origin: { servedBy: canaries.servedBy('k') } }),
    )
    expect(await store.trajectories.count({ canary: CanaryId.parse('k') })).toBe(0)
    expect(await store.releases.revision()).toBe(0)
    await store.releases.put(sample.release('a'))
    await store.canaries.put(canaries.canary('k'))
    await store.traffic.append(traffic.call('t2', 'c3', { origin: { servedBy: canaries.servedBy('k') } }))
    expect(await store.trajectories.count({ canary: CanaryId.parse('k') })).toBe(1)
    await store.close()
  })
})
