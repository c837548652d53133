import { describe, expect, it } from 'vitest'
import { experience, item } from '../../../test/support/memory-items.ts'
import { doesHarm, type Experience, memory, type MemoryItem, MemoryValue } from '../../agent/index.ts'
import { rng, type SavedLearning, VersionId } from '../../core/index.ts'
import { caseUtility, type CaseUtilityOptions } from './case-utility.ts'

const day = 24 * 60 * 60 * 1_000
const always = { retry: 0.5 }

async function opened(items: readonly MemoryItem[], options: CaseUtilityOptions, saved: SavedLearning | null = null) {
  const seat = {
    parameter: 'cases',
    version: VersionId.parse('0'.repeat(64)),
    value: MemoryValue.parse(memory({ items }).initial(() => '')),
    rng: (...key: readonly (string | number)[]) => rng('seat', ...key),
    evaluate: null,
  }
  return caseUtility(options).open(seat, saved)
}

/** Episodes that recalled an item, or left it out by chance, and what each earned. */
const episodes = ({ id }: MemoryItem, earned: readonly number[], { at = 1_000, shown = true } = {}) =>
  earned.map((one, i): Experience => {
    const recalled = [{ id, similarity: 1, score: 0, shown }]
    return experience(`${at} ${i} ${shown}`, { recalled, done: '', earned: one, at: at + i })
  })

const failures = [0, 0, 0, 0, 0]
const desk = item('kettle', { text: 'birch', utility: 0.5 })
const isRecalled = (value: MemoryValue | null) => value?.items.every((one) => !doesHarm(one))

describe('an item with which episodes fail', () => {
  it('is recalled no more: since when is kept', async () => {
    const learning = await opened([desk], { retry: 0 })
    await learning.step(episodes(desk, failures), 0)
    expect((await learning.bound()).items).toMatchObject([{ barred: 1_004 }])
    expect(isRecalled(await learning.bound())).toBe(false)
    await learning.step(episodes(desk, [0], { at: 2_000 }), 1)
    expect((await learning.bound()).items).toMatchObject([{ barred: 1_004 }])
  })

  it('is recalled on where they fail as much without it', async () => {
    const learning = await opened([desk], { retry: 0 })
    await learning.step([...episodes(desk, failures), ...episodes(desk, failures, { shown: false })], 0)
    expect(isRecalled(await learning.bound())).toBe(true)
    expect((await learning.bound()).items[0]).not.toHaveProperty('barred')
  })

  it('is recalled no more where they fail without it because of another', async () => {
    const other = item('kettle', { text: 'amber', utility: 0.5 })
    const both = (first: MemoryItem, second: MemoryItem, at: number) =>
      episodes(first, failures, { at }).map((one) => ({
        ...one,
        recalled: [...one.recalled, { id: second.id, similarity: 1, score: 0, shown: false }],
      }))
    const learning = await opened([desk, other], { retry: 0 })
    await learning.step([...both(desk, other, 1_000), ...both(other, desk, 2_000)], 0)
    expect((await learning.bound()).items.map((one) => doesHarm(one))).toEqual([true, true])
  })

  it('is tried again in practice now and then, and never in what serves', async () => {
    const learning = await opened([desk], always)
    await learning.step(episodes(desk, failures), 0)
    let tried = 0
    for (let update = 1; update <= 60; update++) {
      await learning.step([experience('another', { done: '', at: 2_000 + update })], update)
      if (isRecalled(await learning.bound())) tried++
      expect(isRecalled(await learning.propose())).toBe(false)
    }
    expect(tried).toBeGreaterThan(15)
    expect(tried).toBeLessThan(45)
  })

  it('goes on as it was saved, trials too', async () => {
    const learning = await opened([desk], always)
    await learning.step(episodes(desk, failures), 0)
    for (let update = 1; update < 40 && !isRecalled(await learning.bound()); update++) {
      await learning.step([experience('another', { done: '', at: 2_000 + update })], update)
    }
    const saved = JSON.parse(JSON.stringify(await learning.save())) as SavedLearning
    const resumed = await opened([desk], always, saved)
    expect(await resumed.bound()).toEqual(await learning.bound())
    expect(isRecalled(await resumed.bound())).toBe(true)
  })

  it('comes back by a trial that works, and stays away by one that fails', async () => {
    for (const [earned, comes] of [
      [1, true],
      [0, false],
    ] as const) {
      const learning = await opened([desk], { retry: 0 })
      await learning.step(episodes(desk, failures), 0)
      await learning.step(episodes(desk, [earned], { at: 2_000 }), 1)
      expect(isRecalled(await learning.propose())).toBe(comes)
      expect((await learning.propose())?.items[0]?.barred === undefined).toBe(comes)
    }
  })

  it('comes back by no trial that fails, however little', async () => {
    for (const earned of [0.3, 0.49]) {
      const learning = await opened([desk], { retry: 0, rate: 0.5 })
      await learning.step(episodes(desk, failures), 0)
      for (let i = 1; i <= 9; i++) await learning.step(episodes(desk, [earned], { at: i * 2_000 }), i)
      expect((await learning.propose())?.items[0]?.utility).toBeGreaterThan(-0.45)
      expect(isRecalled(await learning.propose())).toBe(false)
      await learning.step(episodes(desk, [0.9], { at: 50_000 }), 10)
      expect(isRecalled(await learning.propose())).toBe(true)
    }
  })

  it('stays away where it was away before bars were known, and a trial fails a little', async () => {
    const harmful = { ...desk, utility: -0.508, with: { count: 5, mean: -1 } }
    const learning = await opened([harmful], { retry: 0 })
    await learning.step(episodes(desk, [0.3], { at: 2_000 }), 0)
    expect((await learning.propose())?.items).toMatchObject([{ barred: 2_000 }])
    expect(isRecalled(await learning.propose())).toBe(false)
  })

  it('comes back by no trial in which another item was followed', async () => {
    const other = item('kettle', { text: 'amber' })
    const learning = await opened([desk, other], { retry: 0 })
    await learning.step(episodes(desk, failures), 0)
    const [first] = episodes(desk, [0.3], { at: 2_000 })
    const followed = { id: other.id, similarity: 1, score: 0, shown: true }
    const [second] = episodes(desk, [1], { at: 3_000 })
    if (!first || !second) throw new Error('two episodes')
    const together = { ...second, done: 'amber', recalled: [...second.recalled, followed] }
    await learning.step([first, together], 1)
    expect((await learning.propose())?.items.find(({ id }) => id === desk.id)?.barred).toBe(1_004)
  })

  it('has no time where none is known', async () => {
    const harmful = { ...desk, utility: -0.9, with: { count: 9, mean: -1 } }
    const learning = await opened([harmful], { retry: 0 })
    await learning.step([], 0)
    expect((await learning.bound()).items).toEqual([harmful])
    await learning.step([experience('another', { done: '', at: 40 * day })], 1)
    expect((await learning.propose())?.items).toMatchObject([{ barred: 40 * day }])
    expect(isRecalled(await learning.propose())).toBe(false)
  })

  it('is judged anew after a time', async () => {
    const learning = await opened([desk], { retry: 0, barDays: 3 })
    await learning.step(episodes(desk, failures), 0)
    await learning.step([experience('another', { done: '', at: 2 * day })], 1)
    expect(isRecalled(await learning.propose())).toBe(false)
    await learning.step([experience('another', { done: '', at: 3 * day + 1_004 })], 2)
    const none = { count: 0, mean: 0 }
    expect((await learning.propose())?.items).toEqual([{ ...desk, utility: 0, with: none, without: none }])
    await learning.step(episodes(desk, failures, { at: 4 * day }), 3)
    expect(isRecalled(await learning.propose())).toBe(false)
  })
})
