import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runReader, readerTasks, type ReaderChanges } from '../../../../test/support/reader.ts'
import { attemptsOf, missing, scored, vetoed } from '../../../../test/support/trajectories.ts'
import type { ScoredTrajectory, Store } from '../../../core/index.ts'
import { openMemoryStore } from '../../../store/index.ts'
import { informativeOf } from './attempts.ts'

describe('a group is informative', () => {
  const groups = (...rewards: Parameters<typeof attemptsOf>[0][]): readonly ScoredTrajectory[] =>
    rewards.flatMap((some, i) => attemptsOf(some, { task: `t${i}`, group: `g${i}` }))

  it('when its attempts differ in reward', () => {
    expect(informativeOf(groups([scored(0), scored(1)], [scored(0), scored(0)], [scored(1), scored(1)]))).toBe(1)
    expect(informativeOf(groups([scored(0), scored(0.5)], [scored(0), vetoed(-1)]))).toBe(2)
  })

  it('and not by what is missing', () => {
    expect(informativeOf(groups([scored(0), missing], [missing, missing], [scored(0), missing, scored(1)]))).toBe(1)
    expect(informativeOf([])).toBe(0)
  })
})

describe('the tasks of updates', () => {
  let store: Store
  beforeEach(async () => {
    store = await openMemoryStore()
  })
  afterEach(() => store.close())

  /** The training tasks of each update, once for each group. */
  async function attempted(changes: ReaderChanges): Promise<readonly (readonly string[])[]> {
    await runReader(store, changes)
    const records = await store.trajectories.list({ limit: 10_000 })
    const byUpdate = new Map<string, Set<string>>()
    for (const { trajectory } of records) {
      const update = /update-(\d+)/.exec(trajectory.id)?.[1]
      if (trajectory.task.split !== 'train' || update === undefined) continue
      const tasks = byUpdate.get(update) ?? new Set()
      byUpdate.set(update, tasks.add(trajectory.task.id))
    }
    return [...byUpdate].toSorted(([a], [b]) => Number(a) - Number(b)).map(([, tasks]) => [...tasks])
  }

  const train = readerTasks.flatMap(({ id, split }) => (split === 'train' ? [id] : [])).toSorted()

  it('are all of them in turn where they are drawn alike, in a fresh order each pass', async () => {
    const updates = await attempted({ schedule: { updates: 8, allocation: 'uniform', rounds: 1 } })
    const [first, second] = [updates.slice(0, 4).flat(), updates.slice(4).flat()]
    expect(first.toSorted()).toEqual(train)
    expect(second.toSorted()).toEqual(train)
    expect(second).not.toEqual(first)
  })

  it('are drawn anew for each update where they are drawn by what they teach', async () => {
    const updates = await attempted({ schedule: { updates: 3, allocation: 'learnability', rounds: 1 } })
    expect(updates.map(({ length }) => length)).toEqual([6, 6, 6])
    expect(new Set(updates.map((tasks) => tasks.toSorted().join())).size).toBe(3)
  })

  it.each([
    ['are asked in other words where that is wanted, all attempts of a group in the same', 1],
    ['are asked in their own words where it is not', 0],
  ])('%s', async (_, rewording) => {
    await runReader(store, { schedule: { updates: 4, rounds: 1, rewording } })
    const own = new Map<string, string>(readerTasks.map(({ id, instruction }) => [id, instruction]))
    const asked = new Map<string, Set<string>>()
    let otherwise = 0
    for (const { trajectory } of await store.trajectories.list({ limit: 10_000 })) {
      const { id, instruction, split } = trajectory.task
      if (split !== 'train' || !/update-\d+\//.test(trajectory.id)) continue
      expect(trajectory.nodes[0]?.message.content).toBe(instruction)
      asked.set(trajectory.group, (asked.get(trajectory.group) ?? new Set()).add(instruction))
      if (instruction !== own.get(id)) otherwise++
    }
    expect(asked.size).toBeGreaterThan(0)
    for (const instructions of asked.values()) expect(instructions.size).toBe(1)
    expect(otherwise > 0).toBe(rewording > 0)
  })

  it('are half as many again, attempted half as often, where success is common', async () => {
    const model = { imitation: 4.5, imitated: 9, practice: () => 0 }
    const { of } = await runReader(store, { model, schedule: { updates: 2, rounds: 1, allocation: 'learnability' } })
    const { trajectories } = store
    const tasks = (await trajectories.list({ limit: 1000 })).flatMap(({ trajectory: { id, task } }) =>
      id.includes('update-1') ? [task.id] : [],
    )
    expect(of('updated').map(({ rollouts }) => rollouts.n)).toEqual([24, 18])
    expect(new Set(tasks).size).toBe(9)
  })
})
