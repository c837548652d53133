import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type TaskId, TaskId as Id } from '../../core/index.ts'
import { dominates, drawnByWeight, paretoWeights } from './pareto.ts'
import type { Earned } from './scores.ts'

const tasks = ['a', 'b', 'c', 'd'].map((id) => Id.parse(id))
const earnedOf = (values: readonly (number | null)[]): Earned =>
  new Map(values.map((value, i) => [tasks[i] as TaskId, value]))
const score = fc.option(fc.constantFrom(0, 0.5, 1), { nil: null, freq: 6 })
const candidates = fc
  .array(fc.array(score, { minLength: 4, maxLength: 4 }), { minLength: 1, maxLength: 7 })
  .map((all) => all.map(earnedOf))

describe('the Pareto front', () => {
  it('weighs a candidate by the tasks on which nobody earned more', () => {
    // The first leads in a, b and d, and dominates the second and the last; the third leads in c and d.
    const all = [
      [1, 1, 0, 1],
      [0, 1, 0, 1],
      [0, 0, 1, 1],
      [0.5, 0.5, 0, 0],
    ]
    expect(paretoWeights(all.map(earnedOf), tasks)).toEqual([3, 0, 2, 0])
    expect(
      paretoWeights(
        [
          [1, 0, 0, 0],
          [0, 1, 0, 0],
        ].map(earnedOf),
        tasks,
      ),
    ).toEqual([3, 3])
  })

  it('takes missing evidence for less than any', () => {
    expect(
      paretoWeights(
        [
          [null, 0, 0, 0],
          [0, 0, 0, 0],
        ].map(earnedOf),
        tasks,
      ),
    ).toEqual([0, 4])
    expect(paretoWeights([[null, null, null, null]].map(earnedOf), tasks)).toEqual([0])
  })

  it('holds nothing that is dominated, and the best of every task', () => {
    fc.assert(
      fc.property(candidates, (all) => {
        const weights = paretoWeights(all, tasks)
        for (const [i, one] of all.entries()) {
          if ((weights[i] ?? 0) > 0) expect(all.some((other) => dominates(other, one, tasks))).toBe(false)
        }
        for (const task of tasks) {
          const best = Math.max(...all.map((one) => one.get(task) ?? Number.NEGATIVE_INFINITY))
          if (best === Number.NEGATIVE_INFINITY) continue
          const leads = all.some((one, i) => (weights[i] ?? 0) > 0 && one.get(task) === best)
          expect(leads).toBe(true)
        }
      }),
    )
  })

  it('draws in proportion to the weights', () => {
    expect([0, 0.24, 0.25, 0.99].map((uniform) => drawnByWeight([1, 0, 3], uniform))).toEqual([0, 0, 2, 2])
    expect(drawnByWeight([0, 0], 0.5)).toBe(0)
  })
})
