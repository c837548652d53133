import { expect, it } from 'vitest'
import { missing, scored, vetoed } from '../../test/support/trajectories.ts'
import { Reward } from './reward.ts'

it('reads scored, vetoed and missing rewards', () => {
  for (const reward of [scored(0), vetoed(-1), missing]) expect(Reward.parse(reward)).toEqual(reward)
})

it.each([
  ['a missing reward with a number (invariant 1)', { ...missing, value: 0 }],
  ['a score that is missing', { ...scored(0), value: null }],
  ['a score that is no number', scored(Number.NaN)],
  ['a veto without its guard', { status: 'vetoed', value: 0, parts: {}, reason: 'gamed' }],
  ['a part that is no number', { ...scored(0), parts: { solved: Number.POSITIVE_INFINITY } }],
])('refuses %s', (_, reward) => {
  expect(Reward.safeParse(reward).success).toBe(false)
})
