import { expect, it } from 'vitest'
import { attemptsOf, missing, scored, vetoed } from '../../../test/support/trajectories.ts'
import { inRangeOf, withEarned } from './earned.ts'

it('adds what each episode earned, also where the estimator says nothing, and never invents a reward', () => {
  const attempts = attemptsOf([scored(0.5), scored(0.5), vetoed(-1), missing])
  const [first, second, gamed] = attempts.map(({ trajectory }) => ({
    trajectory: trajectory.id,
    decision: trajectory.decisions[0]?.id ?? ('' as never),
  }))
  if (!first || !second || !gamed) throw new Error('no attempts')
  const told = [{ ...first, advantage: 0.25, critique: 'Good.' }]
  expect(withEarned(told, attempts, {})).toEqual([
    { ...first, advantage: 0.25, critique: 'Good.', utility: 0.5 },
    { ...second, advantage: null, utility: 0.5 },
    { ...gamed, advantage: null, utility: -1, vetoed: true },
  ])
  const charging = { chargedFor: (choice: string) => (choice === 'model' ? 0.3 : 0) }
  expect(withEarned(told, attempts, charging)[1]).toEqual({ ...second, advantage: null, utility: 0.5, charged: 0.3 })
  const own = [{ ...first, advantage: null, utility: 0.9 }]
  expect(withEarned(own, attempts, charging)[0]).toEqual({ ...first, advantage: null, utility: 0.9 })
})

it('tells between what an episode can earn', () => {
  const [attempt] = attemptsOf([scored(0.5)])
  if (!attempt) throw new Error('no attempt')
  expect(inRangeOf({ floor: -1, ceiling: 2 }, withEarned([], [attempt], {}))).toMatchObject([
    { utility: 0.5, range: [-1, 2] },
  ])
})
