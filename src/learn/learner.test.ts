import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { likedSessions, recordSessions, runTraffic, servedReader } from '../../test/support/learner-traffic.ts'
import { practisedModel } from '../../test/support/practised-model.ts'
import { type Alert, defaultTenant, parseInput, type RunId, type Store } from '../core/index.ts'
import { Registry } from '../release/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { leaseOf, type Learner, type LearnerOptions, type LearnerRun, startLearner } from './learner.ts'
import type { LearnerEvent } from './learner/events.ts'
import { LearnFromTrafficConfig } from './source/traffic/config.ts'
import { shadow } from './release-plan.ts'
import type { LearnEvent } from './events.ts'
import { freshEpisodes } from './source/traffic/fresh.ts'
import { traffic } from './source.ts'
import { trafficLearner } from './traffic-learner.ts'

const { renderer } = practisedModel().service

const hour = 3_600_000

let store: Store
let learners: Learner[]
beforeEach(async () => {
  store = await openMemoryStore()
  learners = []
})
afterEach(async () => {
  await Promise.all(learners.map((learner) => learner.stop()))
  await store.close()
})

const config = parseInput(
  LearnFromTrafficConfig,
  {
    mode: 'automatic',
    every: '1h',
    minEpisodes: 8,
    settle: '10m',
    rubric: { signals: { thumbs: {} } },
    reporters: { share: 1, trusted: ['k'] },
    canary: { shares: [0.1, 0.5], promote: 'behaviour-only' },
  },
  'a configuration',
)

/** A learner of the reader's traffic that looks around every few milliseconds. */
function start(changes: Partial<LearnerOptions> = {}) {
  const events: (LearnerEvent | LearnEvent)[] = []
  const onEvent = (event: LearnerEvent | LearnEvent) => events.push(event)
  const openModel = () => Promise.resolve(practisedModel().service)
  const options = trafficLearner({ agent: servedReader, tenant: defaultTenant, config, store, openModel, onEvent })
  const learner = startLearner({ ...options, everyMs: 50, watchMs: 5, leaseMs: 300, ...changes })
  learners.push(learner)
  const until = (type: string, count = 1) =>
    vi.waitFor(
      () => {
        const found = events.filter((event) => event.type === type)
        expect(found.length, events.map((event) => event.type).join(' ')).toBeGreaterThanOrEqual(count)
        return found
      },
      { timeout: 10_000, interval: 5 },
    )
  return { learner, events, until }
}

const sessions = (prefix: string, count: number) => likedSessions(store, { now: Date.now(), prefix, count })

const alert = (id: string, at: number): Alert => ({
  id: id as never,
  agent: 'reader',
  kind: 'drift',
  name: 'reward',
  message: 'The reward fell.',
  evidence: {},
  run: null,
  at,
})

describe('a learner', () => {
  it('learns when enough fresh episodes are there, and waits while the canary runs', async () => {
    await sessions('s', 4)
    const { events, until } = start()
    expect(await until('waiting')).toMatchObject([{ reason: '8 fresh episodes are needed' }])
    await sessions('t', 4)
    expect(await until('learned')).toMatchObject([{ summary: { outcome: 'canary', learned: { sessions: 8 } } }])
    await until('waiting', 2)
    expect(events.at(-1)).toMatchObject({ type: 'waiting', reason: expect.stringContaining('canary') as string })
    expect(events[0]).toMatchObject({ type: 'leading', token: 1 })
  })

  it('waits from one run to the next, and does not use what it used', async () => {
    await sessions('s', 8)
    const first = start({ everyMs: 3_600_000 })
    const [learned] = await first.until('learned')
    const { canary } = (learned as Extract<LearnerEvent, { type: 'learned' }>).summary
    await new Registry(store).rollBackCanary(canary!, { reasons: ['by hand'] })
    await first.learner.stop()
    await sessions('t', 8)
    const { until } = start({ everyMs: 3_600_000 })
    expect((await until('waiting'))[0]).toMatchObject({ reason: expect.stringContaining('60 min') as string })
  })

  it('drift makes a run due sooner and with fewer, and the alert names it', async () => {
    const { summary } = await runTraffic(store, Date.now() - 2 * hour, { release: shadow() })
    await sessions('s', 3)
    await store.alerts.put(alert('old', Date.now() - 4 * hour))
    await store.alerts.put(alert('new', Date.now() + 1_000))
    const { until } = start({ everyMs: 3_600_000, minEpisodesOnDrift: 3 })
    expect(await until('learning')).toMatchObject([{ reason: 'drift: The reward fell.' }])
    const [learned] = await until('learned')
    const { runId } = (learned as Extract<LearnerEvent, { type: 'learned' }>).summary
    expect(runId).not.toBe(summary.runId)
    expect((await store.alerts.get('new' as never))?.run).toBe(runId)
    expect((await store.alerts.get('old' as never))?.run).toBeNull()
  })

  it('counts what has settled since the last run looked, and not again what that one left out', async () => {
    await sessions('s', 8)
    for (const id of ['quiet-0', 'quiet-1']) await recordSessions(store, renderer, [{ id, at: Date.now() - hour }])
    await runTraffic(store, Date.now(), { release: shadow() })
    const source = traffic({ agent: 'reader', window: '6h', settle: '10m' })
    expect(await freshEpisodes(store, source, 'reader', Date.now())).toBe(0)
    await recordSessions(store, renderer, [{ id: 'later', at: Date.now() - 9 * 60_000 }])
    expect(await freshEpisodes(store, source, 'reader', Date.now())).toBe(0)
    expect(await freshEpisodes(store, source, 'reader', Date.now() + 2 * 60_000)).toBe(1)
  })

  it('tells what goes wrong, and goes on', async () => {
    let looks = 0
    const watch = () => (++looks % 2 === 1 ? Promise.reject(new Error('the canary is shy')) : Promise.resolve())
    const { until } = start({ watch, learn: () => Promise.reject(new Error('no model')) })
    expect((await until('problem'))[0]).toMatchObject({ during: 'watch', message: 'the canary is shy' })
    await sessions('s', 8)
    await vi.waitFor(async () => {
      const problems = await until('problem')
      expect(problems).toContainEqual(expect.objectContaining({ during: 'learn', message: 'no model' }))
    })
  })

  it.each([
    ['takes no more than being told of it', 'problem'],
    ['takes nothing', 'nothing'],
  ])('goes on though whoever listens throws, and %s', async (_, takes) => {
    await sessions('s', 8)
    const warning = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const taken: (LearnerEvent | LearnEvent)[] = []
    const onEvent = (event: LearnerEvent | LearnEvent) => {
      if (event.type !== takes) throw new Error('no ears')
      taken.push(event)
    }
    const openModel = () => Promise.resolve(practisedModel().service)
    const options = trafficLearner({ agent: servedReader, tenant: defaultTenant, config, store, openModel, onEvent })
    const learner = startLearner({ ...options, watchMs: 5 })
    learners.push(learner)
    await vi.waitFor(async () => expect((await store.runs.list({ limit: 1 }))[0]?.status).toBe('completed'), 10_000)
    await learner.stop()
    const told = { type: 'problem', during: 'listen', message: 'no ears' }
    expect(taken).toMatchObject(takes === 'problem' ? [told] : [])
    expect(warning).toHaveBeenCalledTimes(takes === 'problem' ? 0 : 1)
    warning.mockRestore()
  })

  it('told to stay in the shadow, ends the canary of an earlier run', async () => {
    await sessions('s', 8)
    const { summary } = await runTraffic(store, Date.now(), {})
    const shadow = { ...config, mode: 'shadow' as const }
    const openModel = () => Promise.resolve(practisedModel().service)
    const { watch } = trafficLearner({ agent: servedReader, tenant: defaultTenant, config: shadow, store, openModel })
    await watch?.()
    expect(await store.canaries.get(summary.canary!)).toMatchObject({ status: 'ended', receipt: null })
  })

  it('looks at drift as often as at canaries', async () => {
    let observed = 0
    const observe = () => Promise.resolve(void observed++)
    start({ observe })
    await vi.waitFor(() => expect(observed).toBeGreaterThan(3))
  })

  it('watches while it reads what drifted, and learns when that was read', async () => {
    await sessions('s', 8)
    let watched = 0
    const read: (() => void)[] = []
    const { events, until } = start({
      watch: () => Promise.resolve(void watched++),
      observe: () => new Promise((resolve) => read.push(resolve)),
    })
    await vi.waitFor(() => expect(watched).toBeGreaterThan(3))
    expect(events.map(({ type }) => type)).toEqual(['leading'])
    for (const resolve of read) resolve()
    await until('learning')
    await vi.waitFor(() => expect(read.length).toBeGreaterThan(1))
    const ends = setInterval(() => {
      for (const resolve of read) resolve()
    }, 1)
    await Promise.all(learners.map((learner) => learner.stop()))
    clearInterval(ends)
  })

  it('goes on looking while a run trains, and ends with it', async () => {
    await sessions('s', 8)
    let [watched, observed, trains] = [0, 0, false]
    const { learner } = start({
      watch: () => Promise.resolve(void watched++),
      observe: () => Promise.resolve(void observed++),
      learn: ({ signal }) => {
        trains = true
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        })
      },
    })
    await vi.waitFor(() => expect(trains).toBe(true))
    const before = { watched, observed }
    await vi.waitFor(() => {
      expect(watched).toBeGreaterThan(before.watched + 2)
      expect(observed).toBeGreaterThan(before.observed + 2)
    })
    await learner.stop()
  })
})

describe('two learners', () => {
  it('one works, and the other takes over when the first gives its lease up', async () => {
    const one = start({ holder: 'one' })
    await one.until('leading')
    const two = start({ holder: 'two' })
    expect(await two.until('standby')).toMatchObject([{ holder: 'one' }])
    await one.learner.stop()
    expect(one.events.at(-1)).toMatchObject({ type: 'ended' })
    expect(await two.until('leading')).toMatchObject([{ holder: 'two', token: 2 }])
  })

  it('a run that was told to stop is gone on with by the next learner', async () => {
    await sessions('s', 8)
    const one = start({ holder: 'one' })
    await one.until('gathered')
    await one.learner.stop()
    const [left] = await store.runs.list({ limit: 1 })
    if (left!.status === 'completed') return
    expect(left).toMatchObject({ status: 'interrupted' })
    const two = start({ holder: 'two' })
    expect(await two.until('resuming')).toMatchObject([{ run: left!.id }])
    expect(await two.until('learned')).toMatchObject([{ summary: { runId: left!.id, outcome: 'canary' } }])
  })

  it('whoever loses the lease is told at once, and its writes are refused', async () => {
    await sessions('s', 8)
    let given: LearnerRun | null = null
    const { until } = start({
      holder: 'one',
      learn: (run) => {
        given = run
        return new Promise((_, reject) => {
          run.signal.addEventListener('abort', () => reject(run.signal.reason as Error), { once: true })
        })
      },
    })
    await vi.waitFor(() => expect(given).not.toBeNull())
    const held = given as unknown as LearnerRun
    await store.transaction((tx) => held.mayWrite(tx))
    // Another process whose clock is ahead takes it.
    await store.leases.acquire(leaseOf('reader'), 'other', { now: Date.now() + 3_600_000, ttlMs: 60_000 })
    await until('lost')
    expect(held.signal.aborted).toBe(true)
    await expect(store.transaction((tx) => held.mayWrite(tx))).rejects.toMatchObject({ code: 'learn/lost-lease' })
  })

  it('a run that cannot be gone on with is given up: the next one begins', async () => {
    await sessions('s', 8)
    const { summary } = await runTraffic(store, Date.now() - 2 * hour, { release: shadow(), seed: 7 })
    await store.runs.update(summary.runId, { status: 'interrupted' })
    const { until } = start()
    expect(await until('problem')).toMatchObject([{ during: 'learn', code: 'learn/other-seed' }])
    expect(await store.runs.get(summary.runId)).toMatchObject({
      status: 'failed',
      failure: { code: 'learn/other-seed' },
    })
    expect((await until('learned'))[0]).toMatchObject({ summary: { outcome: 'canary' } })
  })

  it('a run that ends with its process again and again is given up', async () => {
    await sessions('s', 8)
    const started = { type: 'started', data: {}, at: 1 }
    const { summary } = await runTraffic(store, Date.now(), { release: shadow() })
    const events = await store.runs.events(summary.runId)
    await store.runs.appendEvents(
      Array.from({ length: 5 }, (_, i) => ({ ...started, run: summary.runId, sequence: events.length + i })),
    )
    await store.runs.update(summary.runId, { status: 'running', endedAt: null })
    const { until } = start()
    await until('waiting')
    expect(await store.runs.get(summary.runId as RunId)).toMatchObject({
      status: 'failed',
      failure: { code: 'learn/given-up' },
      endedAt: expect.any(Number) as number,
    })
  })
})
