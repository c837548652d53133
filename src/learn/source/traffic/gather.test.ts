import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  initialWeights,
  onlyShown,
  recordSessions,
  sayOf,
  type SessionSketch,
} from '../../../../test/support/learner-traffic.ts'
import { scriptedModel } from '../../../../test/support/scripted-model.ts'
import { type Store, type Trajectory, TrajectoryId, VersionId } from '../../../core/index.ts'
import { batchBaseline, shownIn } from '../../../credit/index.ts'
import { present } from '../../../errors/index.ts'
import { limitReporters, rubric, shareOut, signal, trafficRubric } from '../../../reward/index.ts'
import { openMemoryStore } from '../../../store/index.ts'
import { traffic } from '../../source.ts'
import { fitOf } from './fit.ts'
import { gather, type Gatherer, type Gathering } from './gather.ts'

const { renderer } = scriptedModel(() => [])
const minute = 60_000
const asOf = 60 * minute
const limits = { share: 0.1 }

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const record = (...sketches: readonly SessionSketch[]) => recordSessions(store, renderer, sketches)
const say = (id: string, value: boolean, at = 2_000) => store.signals.append([sayOf(id, value, { at })])

const gathererOf = (parameter: string): Gatherer => ({
  parameter,
  lags: new Map([[initialWeights, 0]]),
  maxLag: 0,
  fit: fitOf,
  shownIn: (evidence) =>
    shownIn(evidence, {
      asOf,
      rubric: trafficRubric(),
      renderer,
      parameter,
      lags: new Map(),
      longest: 1_000,
      imitate: onlyShown,
    }),
})

const gatheringOf = (limit = 100): Gathering => ({
  store,
  source: traffic({ agent: 'reader', window: '6h', settle: '30m', limit }),
  usedSince: () => Promise.resolve(new Set()),
  reward: rubric({ thumbs: signal('thumbs') }, { floor: -1 }),
  credit: batchBaseline({ scale: 'none' }),
  reporters: { sessions: (all) => limitReporters(all, limits), shareOut: (some) => shareOut(some, limits) },
  asOf,
})

async function gathered(changes: Partial<Gathering & Gatherer> & { readonly limit?: number } = {}) {
  const { limit, ...others } = changes
  const [one] = await gather({ ...gatheringOf(limit), ...others }, [{ ...gathererOf('model'), ...others }])
  return present(one, 'what was gathered')
}

const dropped = async (...args: Parameters<typeof gathered>) => (await gathered(...args)).report.dropped

describe('what is settled, fresh and scored', () => {
  it('is credited as groups of one against the batch', async () => {
    await record({ id: 'good' }, { id: 'bad' }, { id: 'worse' })
    await say('good', true)
    await say('bad', false)
    await say('worse', false)
    const { batch, report } = await gathered()
    expect(batch.credits.map(({ trajectory, advantage }) => [trajectory, advantage])).toEqual([
      ['good', expect.closeTo(4 / 3, 10)],
      ['bad', expect.closeTo(-2 / 3, 10)],
      ['worse', expect.closeTo(-2 / 3, 10)],
    ])
    expect(batch.temperature).toBe(1)
    expect(report).toMatchObject({ seen: 3, sessions: 3, credited: 3, dropped: {}, flood: 0, vetoed: 0 })
    expect(report.meanReward).toBeCloseTo(-1 / 3, 10)
    expect(report.lags).toEqual({ 0: 3 })
    expect(report.age).toEqual({ newest: 3_598.999, median: 3_598.999, oldest: 3_598.999 })
  })

  it('sees what was said until asOf, and nothing later', async () => {
    await record({ id: 'a' }, { id: 'b' })
    await say('a', true, asOf)
    await say('b', true, asOf + 1)
    expect(await dropped()).toEqual({ 'missing-reward': 1 })
  })

  it('a veto stays in the baseline, and is no praise', async () => {
    await record({ id: 'gamed' }, { id: 'bad' }, { id: 'good' })
    for (const id of ['gamed', 'good']) await say(id, true)
    await say('bad', false)
    const reward = rubric(
      { thumbs: signal('thumbs') },
      { floor: -1, guards: [{ name: 'g', identity: 'g', inspect: ({ id }) => (id === 'gamed' ? 'gamed' : null) }] },
    )
    const { batch, report } = await gathered({ reward })
    expect(report).toMatchObject({ vetoed: 1, vetoedBy: { g: 1 } })
    expect(batch.credits.map(({ advantage }) => advantage)).toEqual(
      [-2 / 3, -2 / 3, 4 / 3].map((x) => expect.closeTo(x, 10)),
    )
  })
})

describe('what is left out is counted by its reason', () => {
  const both = async (sketch: Partial<SessionSketch>, more: Parameters<typeof gathered>[0] = {}) => {
    await record({ id: 'a', ...sketch }, { id: 'b' })
    await say('a', true)
    await say('b', false)
    const { report, batch } = await gathered(more)
    expect(new Set(batch.credits.map(({ trajectory }) => trajectory)).has('a' as never)).toBe(false)
    return report.dropped
  }
  const other = VersionId.parse('other')

  it.each([
    ['train-forbidden', { train: false }],
    ['unsettled', { at: asOf - 10 * minute }],
    ['not-served', { version: null }],
    ['stale', { version: other }],
    ['candidate-arm', { version: other, arm: 'candidate' as const }],
    ['no-logprobs', { logprob: null }],
    ['no-logprobs', { tokens: false }],
    ['truncated', { truncated: true }],
    ['greedy', { temperature: 0 }],
  ])('%s', async (reason, sketch) => {
    expect(await both(sketch)).toEqual({ [reason]: 1 })
  })

  it('used', async () => {
    expect(await both({}, { usedSince: () => Promise.resolve(new Set([TrajectoryId.parse('a')])) })).toEqual({
      used: 1,
    })
  })

  it('missing-reward', async () => {
    await record({ id: 'a' })
    expect(await dropped()).toEqual({ 'missing-reward': 1 })
  })

  it('corrupt-record: it stops nothing, on whatever page', async () => {
    const many = Array.from({ length: 401 }, (_, i) => ({ id: `s${i}`, at: 1_000 + i }))
    await record(...many.map((one, i) => (i === 250 ? { ...one, subject: '' } : one)))
    for (const id of ['s1', 's250', 's251', 's400']) await say(id, id !== 's251')
    const { batch, report } = await gathered({ limit: 1_000 })
    expect(report).toMatchObject({ seen: 401, sessions: 3, dropped: { 'corrupt-record': 1, 'missing-reward': 397 } })
    expect(batch.credits.map(({ trajectory }) => trajectory)).toEqual(['s1', 's251', 's400'])
  })

  it('over-limit: the newest stay', async () => {
    await record({ id: 'a' }, { id: 'b' }, { id: 'c' })
    for (const id of ['a', 'b', 'c']) await say(id, id === 'c')
    const { batch, report } = await gathered({ limit: 2 })
    expect(report).toMatchObject({ seen: 3, dropped: { 'over-limit': 1 } })
    expect(batch.credits.map(({ trajectory }) => trajectory)).toEqual(['b', 'c'])
  })

  it('over-limit: what other weights said takes no place of what is fresh, and has as many of its own', async () => {
    const version = VersionId.parse('other')
    const tried = ['t', 'u', 'v'].map((id) => ({ id, version, arm: 'candidate' as const }))
    await record({ id: 'a' }, { id: 'b' }, ...tried)
    for (const id of ['a', 'b', 't', 'u', 'v']) await say(id, id === 'a')
    const { batch, report } = await gathered({ limit: 2 })
    expect(report).toMatchObject({ seen: 5, sessions: 2, dropped: { 'over-limit': 1, 'candidate-arm': 2 } })
    expect(batch.credits.map(({ trajectory }) => trajectory)).toEqual(['a', 'b'])
  })

  it('other-context: answered under another prompt than serves now, it shows what people showed, and no more', async () => {
    const [serves, earlier] = [VersionId.parse('serves'), VersionId.parse('earlier')]
    await record({ id: 'a', prompt: earlier }, { id: 'b', prompt: serves }, { id: 'c', prompt: serves })
    await say('a', true)
    const said = { name: 'edit', node: 'a-c-a' as never, key: 'a' }
    await store.signals.append([sayOf('a', { kind: 'edit', text: 'green' }, said)])
    for (const id of ['b', 'c']) await say(id, id === 'c')
    const isInContext = async ({ decisions }: Trajectory) => decisions.every(({ version }) => version !== earlier)
    const { batch, report } = await gathered({ isInContext })
    expect(report).toMatchObject({ sessions: 2, dropped: { 'other-context': 1 }, demonstrations: 1 })
    expect(batch.credits.map(({ trajectory }) => trajectory)).toEqual(['b', 'c'])
    expect(batch.shown.map(({ trajectory }) => trajectory)).toEqual(['a'])
  })

  it('other-context takes no place of what is fresh', async () => {
    const earlier = VersionId.parse('earlier')
    await record({ id: 'a' }, { id: 'b' }, ...['t', 'u', 'v'].map((id) => ({ id, prompt: earlier })))
    for (const id of ['a', 'b', 't', 'u', 'v']) await say(id, id === 'a')
    const isInContext = async ({ decisions }: Trajectory) => decisions.every(({ version }) => version !== earlier)
    const { batch, report } = await gathered({ limit: 2, isInContext })
    expect(report.dropped).toEqual({ 'over-limit': 1, 'other-context': 2 })
    expect(batch).not.toHaveProperty('context')
  })

  it('other-temperature: that of most', async () => {
    await record({ id: 'a', temperature: 0.7 }, { id: 'b' }, { id: 'c' })
    for (const id of ['a', 'b', 'c']) await say(id, id === 'c')
    const { batch, report } = await gathered()
    expect(report.dropped).toEqual({ 'other-temperature': 1 })
    expect(batch).toMatchObject({ temperature: 1 })
  })

  it('repeated: the client’s SDK asked again and never saw it', async () => {
    await record({ id: 'a' }, { id: 'a', call: 'again', retryOf: 'a-c' }, { id: 'b' })
    await say('a', true)
    await say('b', false)
    const { batch } = await gathered()
    expect(batch.credits.map(({ trajectory, decision }) => [trajectory, decision])).toEqual([
      ['a', 'again/d0'],
      ['b', 'b-c/d0'],
    ])
  })

  it('what is another agent’s, another tenant’s, or too old is not even seen', async () => {
    await record({ id: 'a', agent: 'writer' }, { id: 'b', tenant: 'acme' })
    expect((await gathered({ asOf })).report.seen).toBe(0)
    await record({ id: 'c' })
    expect((await gathered({ asOf: asOf + 6 * 60 * minute })).report.seen).toBe(0)
  })

  it('what reporters say and do beyond their share', async () => {
    for (let i = 0; i < 40; i++) {
      const id = `s${i}`
      await record({ id, subject: i < 20 ? 'loud' : `person-${i}` })
      await store.signals.append([sayOf(id, i % 2 === 0, { reporter: i < 20 ? 'k:loud' : `k:person-${i}` })])
    }
    await store.signals.append([sayOf('s39', true, { reporter: 'k:loud', key: 'once more' })])
    const { report, flood } = await gathered()
    expect(report).toMatchObject({ seen: 40, dropped: { 'over-share': 18 }, flood: 1, sessions: 22 })
    expect(flood.leftOut.map(({ reporter }) => reporter)).toEqual(['k:loud'])
  })
})

describe('whoever floods is limited in each thing that is learned from', () => {
  const edit = (i: number, by: string, more: Parameters<typeof sayOf>[2] = {}) =>
    sayOf(`s${i}`, { kind: 'edit', text: 'green' }, { name: 'edit', reporter: by, ...more })

  it('in what is fresh, where others’ sessions are of older weights', async () => {
    const older = VersionId.parse('older')
    for (let i = 0; i < 60; i++) {
      const subject = i < 6 ? 'loud' : `person-${i}`
      await record({ id: `s${i}`, subject, ...(i < 26 ? {} : { version: older }) })
      await say(`s${i}`, i % 2 === 0)
    }
    const { report, flood } = await gathered()
    expect(report).toMatchObject({ sessions: 22, dropped: { stale: 34, 'over-share': 4 } })
    expect(flood).toMatchObject({ leftOut: [], excess: { practised: [{ reporter: 'k:loud', before: 6, after: 2 }] } })
  })

  it('in what is shown, where one shows more in a session than others', async () => {
    for (let i = 0; i < 21; i++) await record({ id: `s${i}`, subject: i === 0 ? 'loud' : `person-${i}` })
    for (let answer = 1; answer < 9; answer++) {
      await record({ id: 's0', subject: 'loud', call: `again-${answer}`, at: 1_000 + answer, answer: 'red' })
      await store.signals.append([edit(0, 'k:loud', { node: `again-${answer}-a` as never, key: `${answer}` })])
    }
    for (let i = 1; i < 21; i++) {
      await store.signals.append([edit(i, `k:person-${i}`, { node: `s${i}-c-a` as never, key: `s${i}` })])
    }
    const { batch, report, flood } = await gathered()
    expect(report).toMatchObject({ demonstrations: 22, pairs: 22, dropped: {} })
    expect(batch.shown.find(({ trajectory }) => trajectory === 's0')?.most).toEqual({ demonstrations: 2, pairs: 2 })
    expect(flood.excess.demonstrations).toEqual([{ reporter: 'k:loud', before: 8, after: 2 }])
  })
})

describe('weights of earlier releases', () => {
  const earlier = VersionId.parse('earlier')
  const lags = new Map([
    [initialWeights, 0],
    [earlier, 1],
  ])

  it('count while they are at most so many activations old, and are told', async () => {
    await record({ id: 'old', version: earlier }, { id: 'new' })
    await say('old', true)
    await say('new', false)
    expect(await dropped({ lags })).toEqual({ stale: 1 })
    const { report } = await gathered({ lags, maxLag: 1 })
    expect(report).toMatchObject({ dropped: {}, sessions: 2, lags: { 0: 1, 1: 1 } })
  })
})

it('reads the store once for all that learn, and tells of each what is left out for it', async () => {
  await record({ id: 'a' }, { id: 'b' })
  for (const id of ['a', 'b']) await say(id, id === 'a')
  const list = vi.spyOn(store.trajectories, 'list')
  const all = await gather(gatheringOf(), [gathererOf('model'), gathererOf('route')])
  expect(list).toHaveBeenCalledTimes(1)
  expect(all.map(({ report: { sessions, dropped: left } }) => [sessions, left])).toEqual([
    [2, {}],
    [0, { 'not-served': 2 }],
  ])
})
