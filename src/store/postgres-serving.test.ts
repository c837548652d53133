import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '../../test/support/postgres.ts'
import type { Store } from '../core/index.ts'
import { alertConformance } from './alerts.conformance.ts'
import { auditConformance } from './audits.conformance.ts'
import { canaries, canaryConformance } from './canaries.conformance.ts'
import { RunningCanaryError } from './errors/index.ts'
import { claimConformance } from './claims.conformance.ts'
import { leaseConformance } from './leases.conformance.ts'
import { levelConformance } from './levels.conformance.ts'
import { openStore } from './open-store.ts'
import { servingConformance } from './serving.conformance.ts'
import { sample } from './store.conformance.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await makeTestDatabase()
})
afterAll(() => database.drop())
beforeEach(() => database.clear())
const open = () => openStore({ url: database.url })

servingConformance('PostgreSQL', open)
canaryConformance('PostgreSQL', open)
leaseConformance('PostgreSQL', open)
levelConformance('PostgreSQL', open)
claimConformance('PostgreSQL', open)
alertConformance('PostgreSQL', open)
auditConformance('PostgreSQL', open)

describe('several processes on one database', () => {
  let stores: readonly Store[]
  beforeEach(async () => {
    stores = await Promise.all([open(), open(), open()])
    await stores[0]?.releases.put(sample.release('a'))
  })
  afterEach(() => Promise.all(stores.map((store) => store.close())))

  it('have a lease one at a time, however they ask for it', async () => {
    for (let round = 1; round <= 20; round++) {
      const taken = await Promise.all(
        stores.flatMap((store, i) =>
          ['x', 'y'].map((part) => store.leases.acquire('learn', `${part} of ${i}`, { now: round * 100, ttlMs: 100 })),
        ),
      )
      expect(taken.flatMap((lease) => lease?.token ?? [])).toEqual([round])
    }
  })

  it('renew or take what has just expired, never both', async () => {
    for (let round = 1; round <= 20; round++) {
      const [one, two] = [stores[0] as Store, stores[1] as Store]
      const held = await one.leases.acquire('learn', 'one', { now: round * 1_000, ttlMs: 100 })
      const [renewed, taken] = await Promise.all([
        one.leases.renew(held as never, { now: round * 1_000 + 100, ttlMs: 100 }),
        two.leases.acquire('learn', 'two', { now: round * 1_000 + 100, ttlMs: 100 }),
      ])
      expect([renewed, taken].filter((lease) => lease !== null)).toHaveLength(1)
      expect(await stores[2]?.leases.get('learn')).toEqual(renewed ?? taken)
    }
  })

  it('begin one canary of an agent, and all see what serves from one revision on', async () => {
    for (let round = 0; round < 10; round++) {
      const before = await stores[0]?.releases.revision()
      const starts = await Promise.allSettled(
        stores.map((store, i) => store.canaries.put(canaries.canary(`k${round}-${i}`))),
      )
      const refused = starts.flatMap((start) => (start.status === 'rejected' ? [start.reason] : []))
      expect(refused).toHaveLength(2)
      for (const reason of refused) expect(reason).toBeInstanceOf(RunningCanaryError)
      for (const store of stores) expect(await store.releases.revision()).toBe((before ?? 0) + 1)
      const [running] = (await stores[2]?.canaries.running()) ?? []
      await stores[1]?.canaries.put({ ...canaries.canary(running?.id ?? ''), status: 'ended', endedAt: 200 })
    }
  })

  it('never find an older state under a revision that they read before it', async () => {
    const [writer, reader] = [stores[0] as Store, stores[1] as Store]
    const write = async () => {
      for (let generation = 1; generation <= 40; generation++) {
        await writer.releases.activate(sample.activation(sample.release('a'), generation))
      }
    }
    const read = async () => {
      for (let revision = 0; revision < 40; ) {
        revision = await reader.releases.revision()
        const serves = (await reader.releases.serving())[0]?.generation ?? 0
        expect(serves).toBeGreaterThanOrEqual(revision)
      }
    }
    await Promise.all([write(), read()])
    expect(await reader.releases.revision()).toBe(40)
  })

  it('are held to one running canary by the database itself', async () => {
    await stores[0]?.canaries.put(canaries.canary('k'))
    const insert = (status: string) =>
      database.execute(`insert into ratchet.canaries (id, agent, status, baseline, canary)
        values ('${status}', 'support', '${status}', 'a', '{}')`)
    await insert('ended')
    await expect(insert('running')).rejects.toThrow('canaries_running')
  })
})

describe('a database of before canaries', () => {
  it('is brought up to date once, however many processes open it at once', async () => {
    const own = await makeTestDatabase()
    try {
      const early = await openStore({ url: own.url })
      await early.trajectories.append([sample.recorded('t1')])
      await early.close()
      await own.execute(`
        drop table ratchet.audit_labels, ratchet.audit_draws, ratchet.judged_sessions, ratchet.pins, ratchet.serving_revision, ratchet.canary_events, ratchet.canaries, ratchet.leases,
          ratchet.alerts, ratchet.erasures, ratchet.request_claims, ratchet.candidate_levels;
        alter table ratchet.trajectories drop column canary;
        alter table ratchet.api_keys drop column expires_at;
        delete from ratchet.migrations where name >= '0004'`)
      const opened = await Promise.all(Array.from({ length: 4 }, () => openStore({ url: own.url })))
      expect(await opened[3]?.trajectories.get(sample.trajectory('t1').id)).toEqual(sample.recorded('t1'))
      await opened[0]?.releases.put(sample.release('a'))
      await opened[1]?.canaries.put(canaries.canary('k'))
      expect(await opened[2]?.releases.revision()).toBe(1)
      expect(await own.execute("select name from ratchet.migrations where name like '0003%'")).toHaveLength(1)
      await Promise.all(opened.map((store) => store.close()))
    } finally {
      await own.drop()
    }
  })
})
