import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { missing, scored, trajectoryOf, vetoed } from '../../../test/support/trajectories.ts'
import type { Reward, ScoredTrajectory } from '../../core/index.ts'
import { repeatability } from './repeatability.ts'

/** An attempt at a task in which the agent said something. */
const attempt = (task: string, said: string, reward: Reward): ScoredTrajectory => ({
  trajectory: trajectoryOf({ task, nodes: [{ id: 'n0', message: { role: 'assistant', content: said } }] }),
  reward,
})
const attempts = (task: string, said: string, ...rewards: readonly number[]) =>
  rewards.map((reward) => attempt(task, said, scored(reward)))

it('is the variance between equal attempts over that between all', () => {
  // Within: (½² + ½²) + 0 over 2 comparisons = ¼. All of 1, 0, 1, 1: squares ¾ over 3 = ¼.
  expect(repeatability([...attempts('t', 'a', 1, 0), ...attempts('t', 'b', 1, 1)])).toEqual({
    chance: 1,
    comparisons: 2,
    noise: false,
  })
  // Within: 0.02 / 2 = 0.01. All of 0, 0.2, 1, 1: mean 0.55, squares 0.83, over 3.
  const { chance } = repeatability([...attempts('t', 'a', 0, 0.2), ...attempts('t', 'b', 1, 1)])
  expect(chance).toBeCloseTo(0.01 / (0.83 / 3), 12)
})

it('compares no attempts at different tasks, and none that said something else', () => {
  const apart = [...attempts('t', 'a', 1), ...attempts('u', 'a', 0), ...attempts('t', 'b', 0)]
  expect(repeatability(apart)).toEqual({ chance: 0, comparisons: 0, noise: false })
})

it('does not count what is missing or vetoed', () => {
  const beside = [attempt('t', 'a', missing), attempt('t', 'a', vetoed(0))]
  const some = [...attempts('t', 'a', 1, 1), ...attempts('t', 'b', 0)]
  expect(repeatability([...some, ...beside])).toEqual(repeatability(some))
  expect(repeatability(beside)).toEqual({ chance: 0, comparisons: 0, noise: false })
})

it('calls noise what is mostly chance, from 24 comparisons on', () => {
  const tasks = (count: number) => Array.from({ length: count }, (_, i) => attempts(`t${i}`, 'a', 0, 1)).flat()
  expect(repeatability(tasks(23))).toMatchObject({ comparisons: 23, noise: false })
  expect(repeatability(tasks(24))).toMatchObject({ comparisons: 24, noise: true })
  const clear = Array.from({ length: 24 }, (_, i) => attempts(`t${i}`, 'a', i % 2, i % 2)).flat()
  expect(repeatability(clear)).toEqual({ chance: 0, comparisons: 24, noise: false })
})

it('finds no noise in a reward that follows from what was done, whatever its values', () => {
  const reward = fc.double({ min: -10, max: 10, noNaN: true })
  const size = fc.integer({ min: 2, max: 5 })
  fc.assert(
    fc.property(fc.array(fc.tuple(reward, size), { minLength: 6, maxLength: 24 }), (many) => {
      const batch = many.flatMap(([value, count], i) =>
        attempts(`t${i}`, 'a', ...Array.from({ length: count }, () => value)),
      )
      expect(repeatability(batch).chance).toBeCloseTo(0, 9)
    }),
  )
})

it('finds none where all earn the same: what sums round off is no chance', () => {
  const reward = fc.double({ min: -10, max: 10, noNaN: true })
  fc.assert(
    fc.property(reward, fc.integer({ min: 2, max: 7 }), fc.integer({ min: 1, max: 40 }), (value, count, tasks) => {
      const batch = Array.from({ length: tasks }, (_, i) =>
        attempts(`t${i}`, 'a', ...Array.from({ length: count }, () => value)),
      ).flat()
      expect(repeatability(batch)).toEqual({ chance: 0, comparisons: tasks * (count - 1), noise: false })
    }),
  )
})
