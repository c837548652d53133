import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TrajectoryId } from '../core/index.ts'
import { InvariantError } from '../errors/index.ts'
import {
  BackupFolderError,
  ClosedStoreError,
  CrashedStoreError,
  LockedStoreError,
  MissingStoreError,
  ReadOnlyStoreError,
  UnstorableValueError,
} from './errors/index.ts'
import { openStore } from './open-store.ts'
import { StoreThread } from './sqlite-thread.ts'
import { hostStore } from './sqlite-thread-host.ts'
import type { ThreadStore } from './sqlite-thread-protocol.ts'
import { openThreadedStore } from './sqlite-threaded-store.ts'
import { alertConformance } from './alerts.conformance.ts'
import { auditConformance } from './audits.conformance.ts'
import { canaryConformance } from './canaries.conformance.ts'
import { claimConformance } from './claims.conformance.ts'
import { leaseConformance } from './leases.conformance.ts'
import { levelConformance } from './levels.conformance.ts'
import { servingConformance } from './serving.conformance.ts'
import { sample, storeConformance } from './store.conformance.ts'

let folder: string
let path: string
let started: { readonly store: ThreadStore; readonly crash: (error: Error) => void; readonly alive: boolean }[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-threads-'))
  path = join(folder, 'ratchet.db')
  started = []
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Both ends of the line in this thread, over a real port: what is tested is what is written here, not what was compiled. */
function start(store: ThreadStore): StoreThread {
  const { port1, port2 } = new MessageChannel()
  const events = new EventEmitter()
  let alive = true
  const end = (): void => {
    if (!alive) return
    alive = false
    port1.close()
    events.emit('exit', 1)
  }
  hostStore(port2, (given) => openStore({ ...given, thread: 'main' }))
  port1.on('message', (answers) => events.emit('message', answers))
  started.push({
    store,
    crash: (error) => {
      events.emit('error', error)
      end()
    },
    get alive() {
      return alive
    },
  })
  return new StoreThread(store, {
    on: (event: string, listener: (...values: never[]) => void) => events.on(event, listener as () => void),
    postMessage: (message) => port1.postMessage(message),
    ref: () => port1.ref(),
    unref: () => port1.unref(),
    terminate: async () => end(),
  })
}

const open = (readonly = false) => openThreadedStore({ path, readonly }, start)

storeConformance('SQLite in threads', () => open())
servingConformance('SQLite in threads', () => open())
canaryConformance('SQLite in threads', () => open())
leaseConformance('SQLite in threads', () => open())
levelConformance('SQLite in threads', () => open())
claimConformance('SQLite in threads', () => open())
alertConformance('SQLite in threads', () => open())
auditConformance('SQLite in threads', () => open())

describe('a store in threads', () => {
  it('writes, looks up and scans in a thread each, and ends them', async () => {
    const store = await open()
    await store.trajectories.append([sample.recorded('t1')])
    await store.trajectories.get('t1' as TrajectoryId)
    expect(started.map(({ store }) => store.readonly)).toEqual([false, true])
    await store.trajectories.count({})
    await store.trajectories.list({ limit: 1 })
    expect(started.map(({ store }) => store.readonly)).toEqual([false, true, true])
    await store.close()
    expect(started.some(({ alive }) => alive)).toBe(false)
  })

  it('reads without a thread that writes, when it may only read', async () => {
    await (await open()).close()
    started = []
    const store = await open(true)
    await expect(store.versions.put(sample.version('a'))).rejects.toThrow(ReadOnlyStoreError)
    await expect(store.blobs.put(Buffer.from('a'))).rejects.toThrow(ReadOnlyStoreError)
    await expect(store.transaction(async () => {})).rejects.toThrow(ReadOnlyStoreError)
    expect(await store.trajectories.count({})).toBe(0)
    expect(started.every(({ store }) => store.readonly)).toBe(true)
    await store.close()
  })

  it('fails to open as it does without threads, and leaves none behind', async () => {
    await expect(open(true)).rejects.toThrow(MissingStoreError)
    const first = await open()
    const refusal = await open().catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(LockedStoreError)
    expect((refusal as LockedStoreError).writer?.pid).toBe(process.pid)
    expect(started.filter(({ alive }) => alive)).toHaveLength(2)
    await first.close()
  })

  it('answers what was asked for before it is closed, by a thread that only starts, too', async () => {
    const store = await open()
    await store.trajectories.append([sample.recorded('t1')])
    const asked = [store.versions.put(sample.version('a')), store.trajectories.count({}), store.runs.list({ limit: 1 })]
    await store.close()
    expect(await Promise.all(asked)).toEqual([undefined, 1, []])
    expect(started.some(({ alive }) => alive)).toBe(false)
  })

  it('is copied in a thread of its own, which ends', async () => {
    const store = await open()
    await store.trajectories.append([sample.recorded('t1')])
    const copying = store.backup(join(folder, 'copy'))
    await store.trajectories.append([sample.recorded('t2')])
    await copying
    expect(started.map(({ alive }) => alive)).toEqual([true, true, false])
    await expect(store.backup(join(folder, 'copy'))).rejects.toThrow(BackupFolderError)
    await store.close()
    await expect(store.backup(join(folder, 'other'))).rejects.toThrow(ClosedStoreError)
    const copy = await openStore({ path: join(folder, 'copy', 'ratchet.db') })
    expect(await copy.trajectories.get('t1' as TrajectoryId)).not.toBeNull()
    await copy.close()
  })

  it('takes what it was given as it was then', async () => {
    const store = await open()
    const events = [{ run: sample.run('r').id, sequence: 0, type: 'update', data: { loss: 1 }, at: 0 }]
    await store.runs.create(sample.run('r'))
    const appended = store.runs.appendEvents(events)
    events.splice(0)
    await appended
    expect(await store.runs.events(sample.run('r').id)).toHaveLength(1)
    await store.close()
  })

  it('says what cannot be stored, and where, also when it cannot travel', async () => {
    const store = await open()
    const refusal = store.trajectories.append([
      {
        ...sample.recorded('t1'),
        reward: { status: 'scored', value: 1, parts: { f: (() => 1) as unknown as number } },
      },
    ])
    await expect(refusal).rejects.toThrow(UnstorableValueError)
    await expect(refusal).rejects.toThrow('reward.parts.f')
    expect(await store.trajectories.count({})).toBe(0)
    await store.close()
  })

  it('knows a transaction that is over', async () => {
    const store = await open()
    let late = store.versions
    await store.transaction(async (tx) => {
      late = tx.versions
    })
    await expect(late.put(sample.version('a'))).rejects.toThrow(InvariantError)
    await store.close()
  })

  it('rejects what a thread left unanswered when it crashed, with the reason, and goes on in a new one', async () => {
    const store = await open()
    await store.trajectories.append([sample.recorded('t1')])
    await store.trajectories.count({})
    const scans = [store.trajectories.count({}), store.trajectories.list({ limit: 1 })]
    started[2]?.crash(new Error('out of memory'))
    for (const scan of scans) {
      await expect(scan).rejects.toThrow(CrashedStoreError)
      await expect(scan).rejects.toThrow('out of memory')
    }
    expect(await store.trajectories.count({})).toBe(1)
    expect(started).toHaveLength(4)
    await store.close()
  })

  it('keeps nothing of a transaction whose thread crashed', async () => {
    const store = await open()
    const broken = store.transaction(async (tx) => {
      await tx.versions.put(sample.version('a'))
      started[0]?.crash(new Error('out of memory'))
      await tx.versions.put(sample.version('b'))
    })
    const behind = store.versions.put(sample.version('c'))
    await expect(broken).rejects.toThrow(CrashedStoreError)
    await expect(behind).rejects.toThrow(CrashedStoreError)
    expect(await store.versions.get(sample.version('a').id)).toBeNull()
    await store.close()
  })
})
