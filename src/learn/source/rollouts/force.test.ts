import { afterEach, beforeEach, expect, it } from 'vitest'
import { changedEnvironment } from '../../../../test/support/changed-environment.ts'
import { type ReaderChanges, runReader } from '../../../../test/support/reader.ts'
import { wordEnvironment } from '../../../../test/support/word-environment.ts'
import type { Datum, Episode, FinalState, Store } from '../../../core/index.ts'
import { rubric, verifier } from '../../../reward/index.ts'
import { openMemoryStore } from '../../../store/index.ts'
import type { LearnEvent } from '../../index.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const word = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] }
const tools = [
  { name: 'look', description: 'Shows the word.', parameters: {} },
  ...['answer', 'spell', 'shout', 'sing'].map((name) => ({ name, description: 'Says it.', parameters: word })),
]
const saidBy = new WeakMap<Episode, string>()

/** Where the secret ends in an odd digit, it must be spelt; the policy, which looks and answers, never does. */
const spelling = changedEnvironment(wordEnvironment, {
  tools,
  step(episode, action) {
    if (action.kind !== 'calls') return episode.step(action)
    const [call] = action.calls
    if (call && call.name !== 'look') saidBy.set(episode, call.name)
    return episode.step({
      ...action,
      calls: action.calls.map((one) => ({ ...one, name: one.name === 'look' ? 'look' : 'answer' })),
    })
  },
  close: (episode) => {
    const { state, counts } = episode.close() as FinalState
    return { state: { ...(state as object), by: saidBy.get(episode) ?? null }, counts }
  },
})
function wellSaid({ state }: FinalState): number {
  const { answer, secret, by } = state as { answer: string | null; secret: string; by: string | null }
  return answer === secret && by === (/[13579]$/.test(secret) ? 'spell' : 'answer') ? 1 : 0
}
const reward = rubric({ solved: verifier(wellSaid) })

/** One run of the reader, with what it imitated and practised as text. */
async function practising({ model, schedule, ...changes }: ReaderChanges = {}) {
  const data: { readonly loss: string; readonly datum: Datum }[] = []
  const ran = await runReader(store, {
    environment: spelling,
    reward,
    check: false,
    model: {
      imitation: 3,
      imitated: 9,
      practice: () => 0,
      ...model,
      onData: (some, loss) => data.push(...some.map((datum) => ({ loss, datum }))),
    },
    schedule: { imitation: 16, augmentation: 0, updates: 3, tasks: 12, ...schedule },
    ...changes,
  })
  const { renderer } = ran.practised.service
  const texts = (imitated: boolean) =>
    data
      .filter(({ loss }) => (loss === 'cross_entropy') === imitated)
      .map(({ datum: { input, target } }) => renderer.decode([...input.slice(0, 1), ...target]))
  const sum = (name: string, from = 0, to = 100) =>
    ran
      .of('updated')
      .slice(from, to)
      .reduce((all, { metrics }) => all + (metrics[name] ?? 0), 0)
  const recorded = (await store.trajectories.list({ limit: 1000 })).filter(({ trajectory }) =>
    trajectory.id.includes('-forced/'),
  )
  return { ...ran, imitated: texts(true), practisedOn: texts(false), sum, recorded }
}

it('finds the right act where the policy never makes it, and imitates it', async () => {
  const { imitated, practisedOn, sum, recorded } = await practising()
  expect(sum('forcedWon')).toBeGreaterThan(3)
  const spelt = imitated.filter((text) => text.includes('!spell'))
  expect(spelt.length).toBeGreaterThan(0)
  for (const text of spelt) {
    const [, shown] = /the word is (\w+)/.exec(text) ?? []
    expect(text).toContain(`!spell {"word":"${shown}"}`)
    expect(shown).toMatch(/[13579]$/)
  }
  expect(practisedOn.length).toBeGreaterThan(0)
  expect(
    practisedOn.filter((text) => text.includes('!spell')),
    'no policy gradient sees it',
  ).toEqual([])
  expect(recorded).toHaveLength(sum('forced'))
})

it('goes as the failed attempt did, changes one act, and lets the policy act on', async () => {
  const { recorded, practised } = await practising({ schedule: { updates: 1 } })
  const { renderer } = practised.service
  const forcedIn = recorded.map(({ trajectory }) =>
    trajectory.nodes.flatMap(({ message, spans }) =>
      message.role === 'assistant'
        ? [{ text: renderer.decode(spans.flatMap(({ tokens }) => tokens)), span: spans.at(-1) }]
        : [],
    ),
  )
  for (const turns of forcedIn) {
    const forced = turns.filter(({ span }) => span?.kind === 'encoded' && span.forced)
    expect(forced.length).toBeGreaterThan(0)
    expect(turns.slice(0, forced.length)).toEqual(forced)
    for (const { text } of forced.slice(0, -1)) expect(text).toMatch(/!look|!answer/)
    expect(forced.at(-1)?.text).toMatch(/!(spell|shout|sing)/)
  }
  const decided = recorded.flatMap(({ trajectory: { decisions } }) => decisions.map(({ propensity }) => propensity))
  expect(decided).toContainEqual({ log: null, reason: 'deterministic' })
})

it('imitates nothing where the environment answers otherwise than in the failed attempt', async () => {
  let opened = 0
  const environment = changedEnvironment(spelling, {
    step: async (episode, action) => {
      const { messages, done } = await episode.step(action)
      opened++
      return { messages: messages.map((one) => ({ ...one, content: `${one.content} at ${opened}` })), done }
    },
  })
  const { sum, recorded, imitated } = await practising({ environment, schedule: { updates: 2 } })
  expect(recorded.length).toBeGreaterThan(0)
  expect(sum('forcedWon')).toBe(0)
  expect(imitated.filter((text) => text.includes('!spell'))).toEqual([])
})

it('tries more often what was right before', async () => {
  const { sum } = await practising({ schedule: { updates: 12, forcedAttempts: 12 } })
  const share = (from: number, to: number) => sum('forcedWon', from, to) / sum('forced', from, to)
  expect(share(4, 12)).toBeGreaterThan(share(0, 1))
})

it('tries few where none was ever right', async () => {
  const never = rubric({ solved: verifier((final) => (wellSaid(final) === 1 && !spells(final) ? 1 : 0)) })
  const { of } = await practising({ reward: never, schedule: { updates: 12, forcedAttempts: 40, stillUpdates: 0 } })
  const [first = 0, second = 0, ...later] = of('updated').map(({ metrics }) => metrics.forced ?? 0)
  expect(first + second).toBeGreaterThan(20)
  expect(later.length).toBeGreaterThan(8)
  for (const count of later) expect(count).toBeLessThanOrEqual(5)
})
const spells = ({ state }: FinalState) => (state as { by: string | null }).by === 'spell'

it.each<[string, ReaderChanges]>([
  ['the schedule says so', { schedule: { forcedAttempts: 0 } }],
  ['all attempts succeed', { environment: wordEnvironment, reward: rubric({ solved: verifier(() => 1) }) }],
  ['no tool takes what another does', { environment: changedEnvironment(spelling, { tools: tools.slice(0, 2) }) }],
])('forces nothing where %s', async (_, changes) => {
  const { sum, recorded } = await practising(changes)
  expect(sum('forced')).toBe(0)
  expect(recorded).toEqual([])
})

it('is the same when it is resumed, and never more than the schedule allows', async () => {
  const schedule = { forcedAttempts: 20, updates: 2 }
  const whole = await practising({ schedule, deterministic: true })
  for (const { metrics } of whole.of('updated')) expect(metrics.forced).toBeLessThanOrEqual(20)
  store = await openMemoryStore()
  const onEvent = (event: LearnEvent) => {
    if (event.type === 'progress' && event.phase === 'update-1-forced' && event.done === 3) throw new Error('killed')
  }
  await expect(practising({ schedule, deterministic: true, onEvent })).rejects.toThrow('killed')
  const [begun] = await store.runs.list({ limit: 1 })
  const resumed = await practising({ schedule, deterministic: true, ...(begun && { resume: begun.id }) })
  const told = (ran: typeof whole) =>
    ran.of('updated').map(({ update, metrics }) => [update, metrics.forced, metrics.forcedWon, metrics.imitated])
  expect(told(resumed)).toEqual(told(whole).slice(1))
  const saying = ({ recorded }: typeof whole) =>
    recorded.map(({ trajectory: { nodes } }) => nodes.map(({ message }) => message)).map((one) => JSON.stringify(one))
  expect(saying(resumed).toSorted()).toEqual(saying(whole).toSorted())
})
