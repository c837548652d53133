import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ReaderChanges, runReader } from '../../../../test/support/reader.ts'
import type { Datum, Message, Store, WeightsLesson } from '../../../core/index.ts'
import { groupPairs, imitate, policyGradient, preferences, sequence } from '../../../optimize/weights/index.ts'
import type { LearnEvent } from '../../index.ts'
import { openMemoryStore } from '../../../store/index.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

/** A sequence that was imitated: all of it, and what of it was learned. */
interface Imitated {
  readonly text: string
  readonly acts: string
}

/** One run of the reader that learns nothing from its policy gradient, with what it imitated. */
async function imitating(changes: ReaderChanges) {
  const imitated: Datum[] = []
  const onData = (data: readonly Datum[], loss: string) => {
    if (loss === 'cross_entropy') imitated.push(...data)
  }
  const { model, ...others } = changes
  const ran = await runReader(store, { model: { practice: () => 0, ...model, onData }, ...others })
  const { renderer } = ran.practised.service
  const told = imitated.map(
    ({ input, target, weights }): Imitated => ({
      text: renderer.decode([...input.slice(0, 1), ...target]),
      acts: renderer.decode(target.filter((_, t) => (weights?.[t] ?? 1) > 0)),
    }),
  )
  return { ...ran, imitated: told, updates: ran.of('updated') }
}

describe('beside its policy gradient an update imitates', () => {
  it('own successes, and so learns what the demonstration did not show', async () => {
    const model = { imitation: 0.5, imitated: 10 }
    const { imitated, updates, summary } = await imitating({ model, schedule: { imitation: 32, updates: 8 } })
    expect(imitated.filter(({ acts }) => acts.includes('!answer')).length).toBeGreaterThan(20)
    expect(summary.learned.success).toBeGreaterThan(summary.primed.success ?? 1)
    const [first, last] = [updates[0]?.metrics, updates.at(-1)?.metrics]
    expect(first?.imitated).toBeGreaterThan(0)
    expect(last?.imitated, 'the more succeeds, the less').toBeLessThan(32 * (1.25 - (last?.overall ?? 0)))
  })

  it('no failure: every answer that is imitated is the word that was read', async () => {
    const { imitated } = await imitating({ schedule: { imitation: 32 } })
    for (const one of imitated) {
      const [, word] = /!answer {"word":"(\w+)"}/.exec(one.acts) ?? []
      if (word !== undefined) expect(one.text).toContain(`the word is ${word}`)
    }
  })

  it('nothing where the schedule says so', async () => {
    const { imitated, updates } = await imitating({ schedule: { imitation: 0 } })
    expect(updates.map(({ metrics }) => metrics.imitated)).toEqual(updates.map(() => 0))
    expect(imitated, 'two passes over one demonstration').toHaveLength(2)
  })
})

describe('demonstrations that the reward does not pay for', () => {
  const answered = (i: number, word: string): readonly Message[] => [
    { role: 'user', content: `What is the word of train-${i}?` },
    { role: 'assistant', content: '', toolCalls: [{ name: 'look', arguments: {} }] },
    { role: 'tool', name: 'look', content: `the word is secret${i}` },
    { role: 'assistant', content: '', toolCalls: [{ name: 'answer', arguments: { word } }] },
  ]
  const prime = {
    demonstrations: [
      { messages: answered(0, 'mud') },
      ...[1, 2, 3].map((i) => ({ messages: answered(i, `secret${i}`) })),
      { messages: answered(4, 'mud') },
    ],
  }
  const schedule = { primePasses: 3, imitation: 8, augmentation: 0, updates: 2 }

  it('are told and not imitated, neither before practice nor beside it', async () => {
    const { imitated, of } = await imitating({ prime, schedule })
    expect(of('found')).toMatchObject([{ code: 'learn/unrewarded-demonstration', severity: 'warn', n: 2, of: 5 }])
    expect(imitated.length).toBeGreaterThan(9)
    expect(imitated.filter(({ text }) => text.includes('mud'))).toEqual([])
  })

  it('are not imitated by a run that is resumed, which plays them no more', async () => {
    const onEvent = (event: LearnEvent) => {
      if (event.type === 'primed' && event.pass === 2) throw new Error('killed')
    }
    await expect(imitating({ prime, schedule, onEvent })).rejects.toThrow('killed')
    const [begun] = await store.runs.list({ limit: 1 })
    const { imitated, of } = await imitating({ prime, schedule, ...(begun && { resume: begun.id }) })
    expect(of('found')).toEqual([])
    expect(imitated.filter(({ text }) => text.includes('mud'))).toEqual([])
  })

  it('are imitated where nothing is checked', async () => {
    const { imitated } = await imitating({ prime, schedule, check: false })
    expect(imitated.filter(({ text }) => text.includes('mud')).length).toBeGreaterThan(0)
  })
})

describe('a sequence says how the weights learn over rollouts', () => {
  const losses = async (optimize: ReaderChanges['optimize'], changes: ReaderChanges = {}) => {
    const seen: string[] = []
    const onData = (_: readonly Datum[], loss: string) => seen.push(loss)
    const schedule = { imitation: 16, explorationTasks: 5 }
    const model = { practice: () => 0, imitation: 0.01, onData }
    const ran = await runReader(store, { ...changes, schedule, model, ...(optimize && { optimize }) })
    return { ...ran, seen, kinds: new Set(seen) }
  }

  it('with imitation alone no policy gradient is computed', async () => {
    const { kinds, of } = await losses({ model: sequence(imitate()) })
    expect([...kinds]).toEqual(['cross_entropy'])
    expect(of('updated').at(-1)?.metrics.imitated).toBeGreaterThan(0)
  })

  it('with a policy gradient alone nothing is imitated, and no tasks are explored for it', async () => {
    const { summary } = await runReader(store, { schedule: { updates: 2 } })
    expect(summary.decision).toBe('promote')
    const prime = { demonstrations: [] }
    const { kinds, of } = await losses({ model: sequence(policyGradient({ loss: 'cispo' })) }, { prime })
    expect([...kinds]).toEqual(['cispo'])
    for (const { metrics } of of('updated')) {
      expect(metrics.explored).toBe(0)
      expect(metrics).not.toHaveProperty('imitated')
    }
  })

  it('both as without a sequence; the other way round, imitation comes first in an update', async () => {
    const alone = await losses({ model: policyGradient() })
    store = await openMemoryStore()
    const both = await losses({ model: sequence(policyGradient(), imitate()) })
    expect(both.seen).toEqual(alone.seen)
    store = await openMemoryStore()
    const turned = await losses({ model: sequence(imitate(), policyGradient()) })
    expect(both.seen.at(-1)).toBe('cross_entropy')
    expect(turned.seen.at(-1)).toBe('ppo')
    store = await openMemoryStore()
    const later = await losses({ model: sequence(preferences(), imitate(), policyGradient()) })
    expect(later.seen, 'what rollouts do not have takes no turn').toEqual(turned.seen)
  })

  it('with pairs of its own attempts, what led to more is preferred, in its turn', async () => {
    const from = groupPairs()
    const run = async (...lessons: readonly WeightsLesson[]) => {
      store = await openMemoryStore()
      const seen: { readonly loss: string; readonly rejects: boolean }[] = []
      const onData = (data: readonly Datum[], loss: string) =>
        seen.push({ loss, rejects: data.some(({ weights = [] }) => weights.some((weight) => weight < 0)) })
      const model = { imitation: 2, imitated: 5, practice: () => 0, onData }
      const schedule = { imitation: 8, updates: 3, explorationTasks: 0 }
      const { of } = await runReader(store, { schedule, model, optimize: { model: sequence(...lessons) } })
      return { seen, told: of('updated').map(({ metrics }) => metrics) }
    }
    const { seen, told } = await run(imitate(), preferences({ from }))
    expect(seen.map(({ loss }) => loss)).not.toContain('cispo')
    expect(seen.at(-1)?.rejects).toBe(true)
    const pairs = told.map(({ preferred = 0 }) => preferred)
    expect(pairs.every((count) => count > 0)).toBe(true)
    for (const [i, { informativeGroups = 0 }] of told.entries()) expect(pairs[i]).toBe(informativeGroups)
    expect((await run(preferences({ from }), imitate(), policyGradient())).seen.at(-1)?.loss).toBe('ppo')
    expect((await run(imitate(), policyGradient(), preferences({ from }))).seen.at(-1)?.rejects).toBe(true)
    expect((await run(imitate(), policyGradient(), preferences())).seen.some(({ rejects }) => rejects)).toBe(false)
  })

  it('is the one that a run began with, when it is resumed', async () => {
    const killed = (): never => {
      throw new Error('killed')
    }
    const onEvent = ({ type }: LearnEvent) => (type === 'updated' ? killed() : undefined)
    await expect(losses({ model: policyGradient() }, { onEvent })).rejects.toThrow('killed')
    const [begun] = (await store.runs.list({ limit: 1 })).map(({ id }) => ({ resume: id }))
    await expect(losses({ model: sequence(imitate(), policyGradient()) }, begun)).rejects.toMatchObject({
      code: 'learn/other-sequence',
      message: expect.stringContaining(
        '"practise, imitate, prefer", and are to go on by "imitate, practise"',
      ) as string,
    })
    const same = sequence(policyGradient(), imitate(), preferences())
    expect((await losses({ model: same }, begun)).summary.runId).toBe(begun?.resume)
  })

  it.each([
    ['demonstrations that nothing imitates', sequence(policyGradient())],
    ['preferences alone', sequence(preferences())],
  ])('%s are refused, and no run is begun', async (_, model) => {
    await expect(losses({ model })).rejects.toMatchObject({ code: 'learn/nothing-teaches' })
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  })
})

describe('families on which next to nothing succeeds', () => {
  const model = { imitation: 0.5, imitated: 10, practice: () => 0 }
  const schedule = {
    imitation: 16,
    augmentation: 0,
    explorationTasks: 5,
    explorationAttempts: 3,
    explorationTemperature: 1.5,
    updates: 3,
  }

  it('are attempted more often, and warmer', async () => {
    const { updates, practised } = await imitating({ model: { ...model, imitation: 0.01 }, schedule })
    expect(updates.map(({ metrics }) => metrics.explored)).toEqual([0, 15, 15])
    const warm = practised.requests.filter(({ params }) => params.temperature === 1.5)
    expect(warm.length).toBeGreaterThanOrEqual(30)
  })

  it('are left alone where they succeed, or where nothing is to be explored', async () => {
    const good = await imitating({ model: { ...model, imitation: 3 }, schedule })
    expect(good.updates.map(({ metrics }) => metrics.explored)).toEqual([0, 0, 0])
    store = await openMemoryStore()
    const off = await imitating({ model: { ...model, imitation: 0.2 }, schedule: { ...schedule, explorationTasks: 0 } })
    expect(off.updates.map(({ metrics }) => metrics.explored)).toEqual([0, 0, 0])
  })

  it('are attempted with a hint where there is one, and what succeeds is imitated without it', async () => {
    const hinted = { ...model, imitation: 0.01 }
    const guide = ({ data }: { readonly data?: unknown }) =>
      `By the way, the word is ${(data as { secret: string }).secret}`
    const { imitated, updates } = await imitating({ model: hinted, schedule, guide })
    expect(updates.map(({ metrics }) => metrics.explored)).toEqual([0, 10, 10])
    const guided = imitated.flatMap(({ text }) => (text.includes('look') ? [] : [text]))
    expect(guided.length).toBeGreaterThan(0)
    for (const text of guided) {
      expect(text).toMatch(/What is the word of train-\d+\?/)
      expect(text).toContain('!answer')
      expect(text).not.toContain('By the way')
    }
    const recorded = await store.trajectories.list({ limit: 1000 })
    expect(JSON.stringify(recorded)).toContain('By the way')
  })
})
