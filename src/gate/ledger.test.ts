import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type HoldoutTask, type HoldoutUse, type LedgerRepository, TaskId } from '../core/index.ts'
import { claimHoldout, holdoutHash, MAX_USES, nextUse } from './ledger.ts'

const ids = (count: number) => Array.from({ length: count }, (_, i) => TaskId.parse(`task-${i}`))
const tasks = ids(3).map((id): HoldoutTask => ({ id, instruction: 'do it', data: null, split: 'holdout' }))

function ledger(): LedgerRepository & { readonly written: HoldoutUse[] } {
  const written: HoldoutUse[] = []
  const tasksOf: (readonly TaskId[])[] = []
  return {
    written,
    append: async (use, tasks) => {
      written.push(use)
      tasksOf.push(tasks)
    },
    uses: async (tasks) => written.filter((_, i) => tasksOf[i]?.some((task) => tasks.includes(task))),
  }
}

/** What `count` uses in a row are granted. */
function granted(count: number, alpha: number) {
  const uses: Pick<HoldoutUse, 'use' | 'alpha'>[] = []
  for (let i = 0; i < count; i++) uses.push(nextUse(uses, alpha))
  return uses
}

describe('nextUse', () => {
  it('gives use k the share 6/(π²k²): 61 % first, then 15 %', () => {
    const [first, second] = granted(2, 0.05)
    expect(first).toEqual({ use: 1, alpha: expect.closeTo(0.0303964, 6) })
    expect(second).toEqual({ use: 2, alpha: expect.closeTo(0.0075991, 6) })
  })

  it('never spends more than alpha in all, also when alpha changes between the uses', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 1e-4, max: 0.25, noNaN: true }), { maxLength: MAX_USES }), (alphas) => {
        const uses: Pick<HoldoutUse, 'use' | 'alpha'>[] = []
        for (const alpha of alphas) {
          try {
            uses.push(nextUse(uses, alpha))
          } catch {
            continue
          }
          expect(uses.reduce((sum, use) => sum + use.alpha, 0)).toBeLessThanOrEqual(alpha * (1 + 1e-12))
        }
      }),
    )
  })

  it('refuses the use after the last, and any use when a larger alpha was spent already', () => {
    expect(() => nextUse(granted(MAX_USES, 0.05), 0.05)).toThrow(
      expect.objectContaining({ code: 'gate/holdout-exhausted' }),
    )
    expect(() => nextUse(granted(1, 0.2), 0.05)).toThrow(expect.objectContaining({ code: 'gate/holdout-exhausted' }))
    expect(nextUse(granted(MAX_USES - 1, 0.05), 0.05).use).toBe(MAX_USES)
  })
})

describe('holdoutHash', () => {
  it('names the set of tasks, not their order', () => {
    expect(holdoutHash(ids(5).toReversed())).toBe(holdoutHash(ids(5)))
    expect(holdoutHash(ids(4))).not.toBe(holdoutHash(ids(5)))
  })
})

describe('claimHoldout', () => {
  it('has written the use before it gives it, and counts holdouts without a common task on their own', async () => {
    const book = ledger()
    const claim = { alpha: 0.05, run: null, at: 7 }
    const first = await claimHoldout(book, { ...claim, tasks })
    expect(book.written).toEqual([first])
    expect(first).toMatchObject({ use: 1, at: 7, run: null, holdout: holdoutHash(ids(3)) })
    expect((await claimHoldout(book, { ...claim, tasks })).use).toBe(2)
    const others = tasks.map((task) => ({ ...task, id: TaskId.parse(`other-${task.id}`) }))
    expect((await claimHoldout(book, { ...claim, tasks: others })).use).toBe(1)
  })

  it('cannot be evaded by a smaller or larger cut of the same tasks', async () => {
    const book = ledger()
    const all = Array.from({ length: 402 }, (_, i): HoldoutTask => ({ ...tasks[0]!, id: TaskId.parse(`task-${i}`) }))
    const spent: number[] = []
    for (const size of [400, 400, 399, 398, 402]) {
      const claim = { tasks: all.slice(0, size), alpha: 0.05, run: null, at: 0 }
      spent.push((await claimHoldout(book, claim)).alpha)
    }
    expect(spent).toEqual(Array.from({ length: 5 }, (_, k) => expect.closeTo((6 * 0.05) / (Math.PI * (k + 1)) ** 2, 9)))
  })

  it('over any overlapping cuts, spends on no task more than alpha', async () => {
    const pool = ids(12)
    const cut = fc.subarray(pool, { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { maxLength: 15 }), async (cuts) => {
        const book = ledger()
        const spent = new Map(pool.map((id) => [id, 0]))
        for (const held of cuts) {
          const claim = { tasks: held.map((id): HoldoutTask => ({ ...tasks[0]!, id })), alpha: 0.05, run: null, at: 0 }
          const use = await claimHoldout(book, claim).catch(() => null)
          for (const id of held) spent.set(id, spent.get(id)! + (use?.alpha ?? 0))
        }
        expect(Math.max(...spent.values())).toBeLessThanOrEqual(0.05 * (1 + 1e-12))
      }),
    )
  })

  it('gives nothing when the ledger cannot be written', async () => {
    const broken = { ...ledger(), append: async () => Promise.reject(new Error('disk full')) }
    await expect(claimHoldout(broken, { tasks, alpha: 0.05, run: null, at: 0 })).rejects.toThrow('disk full')
  })
})
