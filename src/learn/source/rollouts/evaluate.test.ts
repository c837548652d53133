import { describe, expect, it } from 'vitest'
import { attemptsOf, missing, scored, vetoed } from '../../../../test/support/trajectories.ts'
import { wordTask } from '../../../../test/support/word-environment.ts'
import type { Task } from '../../../core/index.ts'
import { inTrainedTiers, succeeded, successRate } from './evaluate.ts'
import { someOfEachTier } from '../../holdout.ts'

describe('success', () => {
  it('is the best reward there is, honestly earned', () => {
    expect(succeeded(scored(1), 1)).toBe(true)
    expect(succeeded(scored(0.99), 1)).toBe(false)
    expect(succeeded(vetoed(1), 1)).toBe(false)
    expect(succeeded(missing, 1)).toBeNull()
  })

  it('is averaged over what has evidence, with the Wilson interval', () => {
    const rate = successRate(attemptsOf([scored(1), scored(0), scored(1), vetoed(0), missing]), 1)
    expect(rate).toMatchObject({ success: 0.5, n: 4, missing: 1 })
    expect(rate.ci[0]).toBeCloseTo(0.15, 3)
    expect(rate.ci[1]).toBeCloseTo(0.85, 3)
  })

  it('is unknown, not 0, without evidence', () => {
    expect(successRate(attemptsOf([missing, missing]), 1)).toEqual({ success: null, n: 0, ci: [0, 1], missing: 2 })
    expect(successRate([], 1).success).toBeNull()
  })
})

it('judges by the tiers that are trained, the unnamed one included', () => {
  const train = [wordTask('0', 'x'), { ...wordTask('1', 'x'), tier: 'a' }] as Task<'train'>[]
  const judges = inTrainedTiers({ train })
  expect([{}, { tier: 'a' }, { tier: 'b' }].map(judges)).toEqual([true, true, false])
})

it('takes tasks of each tier, evenly spread, in order', () => {
  const tasks = ['a', 'b', 'a', 'a', undefined, 'b', undefined].map((tier, i) => ({
    ...wordTask(String(i), 'x'),
    ...(tier === undefined ? {} : { tier }),
  }))
  expect(someOfEachTier(tasks, 2).map(({ id }) => id)).toEqual(['0', '1', '3', '4', '5', '6'])
  expect(someOfEachTier(tasks, 1).map(({ id }) => id)).toEqual(['0', '1', '4'])
  const sorted = Array.from({ length: 500 }, (_, i) => wordTask(i < 250 ? `first${i}` : `last${i}`, 'x'))
  expect(someOfEachTier(sorted, 240).filter(({ id }) => id.startsWith('first'))).toHaveLength(120)
})
