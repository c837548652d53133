import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { asWeights, savedAt, type Store } from '../src/core/index.ts'
import { bytesOf } from '../src/model/index.ts'
import { openStore } from '../src/store/index.ts'
import { likedSessions } from './support/learner-traffic.ts'
import { makeTestDatabase, type TestDatabase } from './support/postgres.ts'

const program = fileURLToPath(new URL('learner-lease.process.mjs', import.meta.url))

// A learner that cannot learn tells of it and waits: nobody should wait ten minutes with it.
vi.setConfig({ testTimeout: 120_000 })

let database: TestDatabase
let store: Store
let started: ChildProcess[] = []
beforeAll(async () => {
  database = await makeTestDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  store = await openStore({ url: database.url })
})
afterEach(async () => {
  for (const child of started) child.kill('SIGKILL')
  started = []
  await store.close()
  await database.clear()
})

interface Told {
  readonly type: string
  readonly [key: string]: unknown
}

function start(holder: string) {
  const child = spawn(process.execPath, [program, database.url, holder], { stdio: ['ignore', 'pipe', 'inherit'] })
  started.push(child)
  const events: Told[] = []
  const listeners = new Set<() => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    events.push(JSON.parse(line) as Told)
    for (const listener of listeners) listener()
  })
  const until = (what: (event: Told) => boolean) =>
    new Promise<Told>((resolve) => {
      const look = () => {
        const found = events.find(what)
        if (!found) return
        listeners.delete(look)
        resolve(found)
      }
      listeners.add(look)
      look()
    })
  return { child, events, until, told: (type: string) => until((event) => event.type === type) }
}

const kill = async (child: ChildProcess, signal: NodeJS.Signals) => {
  // What it told is read by then.
  const ended = once(child, 'close')
  child.kill(signal)
  await ended
}

/** What a run learns from: enough of it that one begins. */
const sessionsCome = () => likedSessions(store, { now: Date.now(), prefix: 's', count: 8 })

/** What came of it, whoever did it. */
async function remains() {
  const runs = await store.runs.list({ limit: 10 })
  const events = await store.runs.events(runs[0]!.id)
  const practised = events.filter(({ type }) => type === 'practised').map(({ data }) => data['epoch'])
  return {
    runs: runs.map(({ status }) => status),
    canaries: (await store.canaries.list({ limit: 10 })).map(({ status }) => status),
    inOrder: events.every(({ sequence }, i) => sequence === i),
    practised,
    finished: events.filter(({ type }) => type === 'finished').length,
  }
}

const once12 = Array.from({ length: 12 }, (_, i) => i + 1)
const asIfAlone = { runs: ['completed'], canaries: ['running'], inOrder: true, practised: once12, finished: 1 }

it('of two learners one works; when it is killed, the other goes on where it was', async () => {
  const one = start('one')
  await one.told('leading')
  const two = start('two')
  expect(await two.told('standby')).toMatchObject({ holder: 'one' })
  await sessionsCome()
  const { runId } = await one.told('started')
  await one.until(({ type, epoch }) => type === 'practised' && epoch === 4)
  await kill(one.child, 'SIGKILL')
  expect(two.events.some(({ type }) => type === 'leading')).toBe(false)

  expect(await two.told('leading')).toMatchObject({ token: 2 })
  expect(await two.told('resuming')).toMatchObject({ run: runId })
  const last = one.events.findLast(({ type }) => type === 'practised')!['epoch'] as number
  const first = await two.told('practised')
  expect([last, last + 1]).toContain(first['epoch'])
  expect(await two.told('learned')).toMatchObject({ summary: { runId, outcome: 'canary', passes: { epochs: 12 } } })
  expect(await remains()).toEqual(asIfAlone)
  const [canary] = await store.canaries.list({ limit: 1 })
  const version = (await store.versions.get(canary!.candidate['model']!))!
  const adapter = asWeights(version.value)?.adapter ?? null
  // Two minibatches an epoch and two passes over the answers that were liked, each taken once by what was kept.
  expect(new TextDecoder().decode(bytesOf(await savedAt(store.blobs, adapter!)))).toBe('{"steps":26}')
  await kill(two.child, 'SIGTERM')
})

it('a learner that slept while another took its place writes nothing when it wakes', async () => {
  await sessionsCome()
  const one = start('one')
  const { runId } = await one.told('started')
  await one.until(({ type, epoch }) => type === 'practised' && epoch === 2)
  one.child.kill('SIGSTOP')
  const two = start('two')
  expect(await two.told('resuming')).toMatchObject({ run: runId })
  await two.told('practised')
  one.child.kill('SIGCONT')
  await one.told('lost')
  await two.told('learned')
  expect(one.events.some(({ type }) => type === 'learned')).toBe(false)
  expect(await remains()).toEqual(asIfAlone)
  // It stands by, and would take over again.
  expect(await one.told('standby')).toMatchObject({ holder: 'two' })
})

it('however often it is killed, what comes of it is the same', async () => {
  await sessionsCome()
  for (let n = 0; n < 3; n++) {
    const learner = start(`learner-${n}`)
    await Promise.race([learner.told('practised'), learner.told('learned')])
    await delay(Math.random() * 500)
    await kill(learner.child, 'SIGKILL')
  }
  const last = start('last')
  await Promise.race([last.told('learned'), last.told('waiting')])
  expect(await remains()).toEqual(asIfAlone)
})

it('asked to stop, it ends at a checkpoint and leaves the lease to the next', async () => {
  await sessionsCome()
  const one = start('one')
  await one.told('practised')
  await kill(one.child, 'SIGTERM')
  expect(one.events.at(-1)).toMatchObject({ type: 'ended' })
  expect(await store.leases.get('learn:reader')).toBeNull()
  expect((await store.runs.list({ limit: 1 }))[0]).toMatchObject({ status: 'interrupted', failure: null })
  const two = start('two')
  const begun = Date.now()
  await two.told('resuming')
  expect(Date.now() - begun).toBeLessThan(5_000)
  await two.told('learned')
  expect(await remains()).toEqual(asIfAlone)
})
