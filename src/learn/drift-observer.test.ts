import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { recordSessions, sayOf, type SessionSketch } from '../../test/support/learner-traffic.ts'
import { practisedModel } from '../../test/support/practised-model.ts'
import { defaultTenant, type Store } from '../core/index.ts'
import { DriftConfig } from '../release/index.ts'
import { type Guard, rubric, signal } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { driftObserver } from './drift-observer.ts'

const { renderer } = practisedModel().service
const minute = 60_000

let store: Store
let now: number
beforeEach(async () => {
  store = await openMemoryStore()
  now = 1_000 * minute
})
afterEach(() => store.close())

const brokenWords: Guard = {
  name: 'broken-words',
  identity: 'broken-words',
  inspect: ({ nodes }) => (nodes.at(-1)?.message.content === 'broken' ? 'broken' : null),
}

const observer = (guards: readonly Guard[] = [], parts: Partial<Parameters<typeof driftObserver>[0]> = {}) =>
  driftObserver({
    store,
    agent: 'reader',
    tenant: defaultTenant,
    rubric: rubric({ thumbs: signal('thumbs') }, { floor: -1, guards }),
    config: DriftConfig.parse({ sessionsBetweenFalseAlarms: 1_000 }),
    judgeAfterMs: 10 * minute,
    historyMs: 10_000 * minute,
    clock: { now: () => now },
    ...parts,
  })

const caps = { perTrajectory: 9, perTrajectoryOfKey: 9, perDay: 99_999 }

let told = 0
/** Sessions a minute apart, of which `liked` says whether they were. */
async function sessions(
  count: number,
  liked: (i: number) => boolean,
  { reporter = 'k', ...sketch }: Partial<SessionSketch> & { readonly reporter?: string } = {},
) {
  for (let i = 0; i < count; i++) {
    const id = `s${told++}`
    await recordSessions(store, renderer, [{ ...sketch, id, at: now }])
    await store.signals.append([sayOf(id, liked(i), { at: now + 1, reporter })], { caps, now: now + 1 })
    now += minute
  }
}

const alerts = () => store.alerts.list({ agent: 'reader', limit: 10 })

it('an agent that fares worse than it did is told of, once, also by an observer that was started anew', async () => {
  const observe = observer()
  await sessions(120, (i) => i % 10 !== 0)
  await observe()
  expect(await alerts()).toEqual([])
  await sessions(40, (i) => i % 10 === 0)
  now += 10 * minute
  await observe()
  const [alert, ...others] = await alerts()
  expect(others).toEqual([])
  expect(alert).toMatchObject({ kind: 'drift', name: 'reward', agent: 'reader', run: null })
  await store.alerts.put({ ...alert!, run: 'run-1' as never })
  await observe()
  await observer()()
  expect(await alerts()).toEqual([{ ...alert, run: 'run-1' }])
})

it('guards that veto more of the sessions are told of', async () => {
  const observe = observer([brokenWords])
  await sessions(120, () => true)
  await sessions(60, () => true, { answer: 'broken' })
  now += 10 * minute
  await observe()
  const told = (await alerts()).map(({ kind, name }) => `${kind} ${name}`)
  expect(told.toSorted()).toEqual(['drift reward', 'guard vetoes'])
  const before = await alerts()
  await observer([brokenWords])()
  // A history that begins elsewhere: the same alarm comes at another session, or with other evidence.
  await observer([brokenWords], { historyMs: 150 * minute })()
  expect(await alerts()).toEqual(before)
})

const thumbs = rubric({ thumbs: signal('thumbs') }, { floor: -1 })

/** The rubric, with the names of those that it scored; some it cannot. */
function scoring(cannot: (nth: number) => boolean = () => false) {
  const scored: string[] = []
  const score: typeof thumbs.score = (trajectory, signals, asOf) => {
    if (cannot(scored.push(trajectory.id))) throw new Error('no score')
    return thumbs.score(trajectory, signals, asOf)
  }
  return { scored, rubric: { ...thumbs, score } }
}

it('a session that the store did not give is shown at the next look, and those before it no more', async () => {
  await sessions(3, () => true)
  now += 10 * minute
  const { scored, rubric } = scoring()
  const observe = observer([], { rubric })
  const of = store.signals.of.bind(store.signals)
  let asked = 0
  vi.spyOn(store.signals, 'of').mockImplementation((...which) =>
    ++asked === 2 ? Promise.reject(new Error('not now')) : of(...which),
  )
  await expect(observe()).rejects.toThrow('not now')
  expect(scored).toHaveLength(1)
  await observe()
  expect([scored.length, new Set(scored).size]).toEqual([3, 3])
})

it('a session that cannot be scored counts as one without a reward: it is told of, once, and the others are watched', async () => {
  const { scored, rubric } = scoring((nth) => nth % 20 === 1)
  const observe = observer([], { rubric, reporters: { share: 1 } })
  await sessions(120, (i) => i % 10 !== 0)
  await sessions(40, (i) => i % 10 === 0)
  now += 10 * minute
  await expect(observe()).rejects.toThrow('no score')
  expect([scored.length, new Set(scored).size]).toEqual([160, 160])
  expect(await alerts()).toMatchObject([{ name: 'reward' }])
  await observe()
  expect(scored).toHaveLength(160)
})

it('an alert that could not be written is written at the next look, and its session counted once', async () => {
  const { scored, rubric } = scoring()
  const observe = observer([], { rubric, reporters: { share: 1 } })
  await sessions(120, (i) => i % 10 !== 0)
  await sessions(40, (i) => i % 10 === 0)
  now += 10 * minute
  vi.spyOn(store.alerts, 'put').mockRejectedValueOnce(new Error('not now'))
  await expect(observe()).rejects.toThrow('not now')
  expect(await alerts()).toEqual([])
  await observe()
  expect(await alerts()).toMatchObject([{ name: 'reward' }])
  expect([scored.length, new Set(scored).size]).toEqual([160, 160])
})

it('more sessions than one look reads are read on from the oldest, each once and in their order', async () => {
  const { scored, rubric } = scoring()
  const observe = observer([], { rubric })
  await sessions(12, () => true)
  await sessions(5, () => true, { train: false })
  await sessions(8, () => true)
  now += 10 * minute
  const all = store.trajectories.summaries.bind(store.trajectories)
  vi.spyOn(store.trajectories, 'summaries').mockImplementation((which) => all({ ...which, limit: 4 }))
  for (let looks = 0; looks < 7; looks++) await observe()
  const began = scored.map((id) => Number(id.slice(1)))
  expect(began).toHaveLength(20)
  expect(began).toEqual([...new Set(began)].toSorted((a, b) => a - b))
})

it('sessions that are not due, may not be learned from, or had a candidate say nothing', async () => {
  await sessions(120, (i) => i % 10 !== 0)
  await sessions(40, () => false, { train: false })
  await sessions(40, () => false, { arm: 'candidate' })
  now += 10 * minute
  await observer()()
  expect(await alerts()).toEqual([])
})

it('an observer with another history tells of no drift again, and of one that came while nobody observed', async () => {
  await sessions(160, (i) => i % 10 !== 0)
  const began = now
  await sessions(40, (i) => i % 10 === 0)
  now += 10 * minute
  await observer()()
  const [first, ...others] = await alerts()
  expect([first?.name, others]).toEqual(['reward', []])
  await observer([], { historyMs: now - began + 100 * minute })()
  expect(await alerts()).toEqual([first])
})

it('one reporter who floods is heard about a share of the latest sessions only', async () => {
  for (let i = 0; i < 40; i++) {
    await sessions(1, () => true)
    await sessions(1, () => false, { reporter: 'mallory' })
  }
  now += 10 * minute
  const heard: string[] = []
  const score: typeof thumbs.score = (trajectory, signals, asOf) => {
    heard.push(...signals.map(({ reporter }) => reporter))
    return thumbs.score(trajectory, signals, asOf)
  }
  await observer([], { reporters: { share: 0.1 }, rubric: { ...thumbs, score } })()
  const of = (name: string) => heard.filter((reporter) => reporter === name).length
  expect([of('k'), of('mallory')]).toEqual([40, 8])
})
