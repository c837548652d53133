import { describe, expect, it } from 'vitest'
import { experience, item } from '../../../test/support/memory-items.ts'
import { type Experience, memory, type MemoryItem, MemoryValue } from '../../agent/index.ts'
import { rng, VersionId } from '../../core/index.ts'
import { caseExemplars } from './exemplars.ts'
import { caseUtility, type CaseUtilityOptions } from './case-utility.ts'
import { insights } from './insights.ts'

async function opened(items: readonly MemoryItem[] = [], options: CaseUtilityOptions = {}) {
  const seat = {
    parameter: 'cases',
    version: VersionId.parse('0'.repeat(64)),
    value: MemoryValue.parse(memory({ items }).initial(() => '')),
    rng: (...key: readonly (string | number)[]) => rng('seat', ...key),
    evaluate: null,
  }
  const learning = await caseUtility(options).open(seat, null)
  return {
    step: (experiences: readonly Experience[]) => learning.step(experiences, 0),
    items: async () => (await learning.bound()).items,
    async saying(text: string) {
      const { items: all } = await learning.bound()
      return all.find((one) => one.text === text)
    },
  }
}

const cue = 'Where does Ada sit?'
const went = (done: string, at: number, change: Partial<Experience> = {}) =>
  experience(`${done} ${at}`, { cue, done, at, ...change })

/** Episodes in which an item was recalled and followed, and which went wrong. */
const failing = (of: MemoryItem | undefined, at: number, count: number) =>
  of === undefined
    ? []
    : Array.from({ length: count }, (_, i) =>
        went(of.text, at + i, { recalled: [{ id: of.id, similarity: 1, score: 0, shown: true }], earned: 0 }),
      )

describe('a case that was superseded', () => {
  const moved = async (options: CaseUtilityOptions = {}, items: readonly MemoryItem[] = []) => {
    const learning = await opened(items, options)
    await learning.step([went('bay 1', 1)])
    await learning.step([...failing(await learning.saying('bay 1'), 10, 3), went('bay 2', 20)])
    expect(await learning.saying('bay 1')).toMatchObject({ until: 20, supersededBy: expect.any(String) as string })
    return learning
  }

  it('comes back where it works again, holds from then on, and keeps its utility and its tallies', async () => {
    const learning = await moved()
    const first = await learning.saying('bay 1')
    const back = went('bay 1', 50, { derivedFrom: ['t-back'] })
    await learning.step([back])
    expect(await learning.saying('bay 1')).toMatchObject({
      from: 50,
      until: null,
      supersededBy: null,
      utility: first?.utility,
      with: { count: 3, mean: -1 },
      derivedFrom: ['t-back'],
    })
    expect(first?.utility).toBeLessThan(0)
  })

  it('comes back as nothing better than what superseded it, which holds on', async () => {
    const learning = await moved()
    const fails = failing(await learning.saying('bay 2'), 40, 4)
    await learning.step([...fails, went('bay 1', 50)])
    const [first, second] = [await learning.saying('bay 1'), await learning.saying('bay 2')]
    expect(second?.utility).toBeLessThan(-0.3)
    expect(first?.utility).toBe(second?.utility)
    expect([first?.until, second?.until]).toEqual([null, null])
  })

  it.each([
    ['neither well nor badly', 0.5],
    ['badly', 0],
  ])('does not come back where it goes %s', async (_, earned) => {
    const learning = await moved({ failures: true })
    await learning.step([went('bay 1', 50, { earned })])
    expect(await learning.saying('bay 1')).toMatchObject({ until: 20, worked: true })
  })

  it('stays what people wrote, where they did', async () => {
    const desk = item(cue, { text: 'bay 1', derivedFrom: [], source: 'the desk list', utility: 0.5 })
    const learning = await moved({ days: 3 }, [desk])
    await learning.step([went('bay 1', 50, { origin: 'import', derivedFrom: ['t-back'] })])
    const back = await learning.saying('bay 1')
    expect(back).toMatchObject({ from: 50, until: null, supersededBy: null })
    expect(back).toMatchObject({ trust: 1, source: 'the desk list', derivedFrom: [], expires: null })
  })

  it('does not come back by an episode from before it was superseded', async () => {
    const learning = await moved()
    await learning.step([went('bay 1', 15)])
    expect(await learning.saying('bay 1')).toMatchObject({ until: 20 })
  })

  it('does not come back where it does harm', async () => {
    const learning = await moved()
    const first = await learning.saying('bay 1')
    await learning.step(failing(first, 30, 6))
    await learning.step([went('bay 1', 50)])
    expect(await learning.saying('bay 1')).toMatchObject({ until: 20 })
  })
})

describe('a case whose time is over', () => {
  const day = 24 * 60 * 60 * 1_000

  it.each([
    ['before', day + 5],
    ['in the batch, after what confirms it', day - 5],
  ])('is written anew by an episode that confirms it: %s', async (_, at) => {
    const learning = await opened([], { days: 1 })
    await learning.step([went('bay 1', 0)])
    await learning.step([went('bay 1', at), experience('another', { at: day + 10 })])
    expect(await learning.saying('bay 1')).toMatchObject({ from: at, expires: at + day })
  })
})

describe('what has its time is forgotten after so many days', () => {
  const day = 24 * 60 * 60 * 1_000
  const deeds = [
    { seen: '', did: 'look up the desk' },
    { seen: 'bay 1', did: 'say it' },
  ]
  const typesIn = async (learning: { items: () => Promise<readonly MemoryItem[]> }, type: MemoryItem['type']) =>
    (await learning.items()).filter((one) => one.type === type)

  it('an exemplar, from its episode on; an equal one takes its place', async () => {
    const learning = await opened([], { days: 2, also: [caseExemplars()] })
    await learning.step([went('bay 1', 5, { deeds })])
    expect(await typesIn(learning, 'exemplar')).toMatchObject([{ expires: 5 + 2 * day }])
    const other = [...deeds, { seen: 'thanks', did: 'say no more' }]
    await learning.step([went('bay 1', 2 * day, { deeds: other }), went('bay 2', 2 * day + 10)])
    expect(await typesIn(learning, 'exemplar')).toMatchObject([{ from: 2 * day, expires: 4 * day }])
    await learning.step([went('bay 2', 5 * day)])
    expect(await typesIn(learning, 'exemplar')).toEqual([])
  })

  it('an insight, from the newest episode on that did what it says; it names none that are older', async () => {
    const learning = await opened([], { days: 10, also: [insights()] })
    const visits = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => {
        const name = `${from}-${i}`
        const done = i % 2 === 0 ? 'amber' : 'birch'
        return experience(name, { cue: 'voucher', done, earned: 1 - (i % 2), at: from + i })
      })
    await learning.step(visits(0, 80))
    expect(await typesIn(learning, 'insight')).toMatchObject([{ cue: 'voucher', expires: 78 + 10 * day }])
    await learning.step(visits(9 * day, 80))
    const [renewed] = await typesIn(learning, 'insight')
    expect(renewed).toMatchObject({ expires: 9 * day + 78 + 10 * day })
    expect(renewed?.derivedFrom).toContain('t-0-79')
    await learning.step(visits(11 * day, 10))
    const [later] = await typesIn(learning, 'insight')
    expect(later?.derivedFrom).not.toContain('t-0-79')
    await learning.step([experience('another', { at: 22 * day })])
    expect(await typesIn(learning, 'insight')).toEqual([])
  })
})

it('a case that holds stays as it was when it works again', async () => {
  const old = item(cue, { text: 'bay 1', from: 1 })
  const learning = await opened([old])
  await learning.step([went('bay 1', 50)])
  expect(await learning.saying('bay 1')).toEqual(old)
})
