import { describe, expect, it } from 'vitest'
import { advantagesIn, groupOf } from '../../../test/support/episodes.ts'
import { creditContext, missing, scored } from '../../../test/support/trajectories.ts'
import { leaveOneOut } from '../leave-one-out.ts'
import { discountedReturn, risingDiscount } from './index.ts'
import { earnedSteps } from './rising-discount.ts'
import { shownBefore, stepped } from './steps.ts'

const [one, two, three] = [[{}], [{}, {}], [{}, {}, {}]]
const rounded = (rows: readonly (readonly (number | null | undefined)[])[]) =>
  rows.map((row) => row.map((value) => value?.toFixed(9)))

describe('the discounted return, by hand', () => {
  it('is what comes after, less the others’ from there on; one that is over counts with its end', async () => {
    // γ ½. t0: 3 Steps, 1 → ¼, ½, 1. t1: 2 Steps, 0 → 0, 0. t2: 1 Step, 1 → 1.
    const group = groupOf([
      [three, scored(1)],
      [two, scored(0)],
      [one, scored(1)],
    ])
    expect(await advantagesIn(discountedReturn({ discount: 0.5 }), [group])).toEqual([
      [0.25 - 0.5, 0.5 - 0.5, 1 - 0.5],
      [0 - 0.625, 0 - 0.75],
      [1 - 0.125],
    ])
  })

  it('without a discount and rewards of Steps is leave-one-out', async () => {
    const group = groupOf([
      [three, scored(1)],
      [two, scored(0.25)],
      [one, missing],
      [two, scored(0)],
    ])
    expect(rounded(await advantagesIn(discountedReturn({ discount: 1 }), [group]))).toEqual(
      rounded(await advantagesIn(leaveOneOut(), [group])),
    )
  })

  it('counts what Steps earned, or leaves it to the outcome', async () => {
    const group = groupOf([
      [[{ reward: 0.5 }, { reward: 0 }], scored(1)],
      [[{ reward: 0 }, { reward: 0.25 }], scored(0)],
    ])
    // Returns 1.5, 1 and 0.25, 0.25.
    expect(await advantagesIn(discountedReturn({ discount: 1 }), [group])).toEqual([
      [1.25, 0.75],
      [-1.25, -0.75],
    ])
    expect(await advantagesIn(discountedReturn({ discount: 1, stepRewards: 'ignored' }), [group])).toEqual([
      [1, 1],
      [-1, -1],
    ])
  })

  it('credits nothing up to a reward that is not known, and counts it', async () => {
    const group = groupOf([
      [[{}, { reward: null }, {}], scored(1)],
      [three, scored(0)],
      [three, scored(0.5)],
    ])
    const estimator = discountedReturn({ discount: 1 })
    expect(await advantagesIn(estimator, [group])).toEqual([
      [undefined, undefined, 0.75],
      // Where t0 is not known, t2 alone is the baseline.
      [-0.5, -0.5, -0.75],
      [0.5, 0.5, 0],
    ])
    expect((await estimator.credit([group], creditContext)).counts.incomparable).toBe(2)
  })

  it('drops groups that say nothing, and counts them', async () => {
    const groups = [
      groupOf([[one, scored(1)]]),
      groupOf([
        [two, scored(1)],
        [two, scored(1)],
      ]),
      groupOf([[one, missing]]),
    ]
    expect(await discountedReturn().credit(groups, creditContext)).toEqual({
      credits: [],
      counts: { missing: 1, uniformGroups: 1, singletonGroups: 2, vetoed: 0, incomparable: 0 },
    })
  })

  it('refuses a discount that is none', () => {
    for (const discount of [-0.1, 1.1, Number.NaN]) {
      expect(() => discountedReturn({ discount })).toThrow(expect.objectContaining({ code: 'credit/bad-option' }))
    }
  })
})

describe('the rising discount, by hand', () => {
  const milestone = { reward: 0.5 }

  it('is α^(1/k) for the k Steps that half of the attempts got through', async () => {
    // Three got through 1, 2 and 0 Steps: half of three is two, and two got through 1 at least. γ = 0.2.
    const group = groupOf([
      [[milestone, {}, {}], scored(0)],
      [[milestone, milestone, {}], scored(0)],
      [three, scored(0)],
    ])
    expect(await advantagesIn(risingDiscount(), [group])).toEqual(
      await advantagesIn(discountedReturn({ discount: 0.2 }), [group]),
    )
    // All three got through 2 at least: γ = √0.2.
    const later = groupOf([
      [[milestone, milestone, {}], scored(0)],
      [[milestone, milestone, {}], scored(1)],
      [[{}, milestone, {}], scored(0)],
    ])
    const expected = await advantagesIn(discountedReturn({ discount: Math.sqrt(0.2) }), [later])
    expect(await advantagesIn(risingDiscount({ mastery: 1 }), [later])).toEqual(expected)
  })

  it('takes the progress that it is told', async () => {
    const group = groupOf([
      [three, scored(1)],
      [three, scored(0)],
    ])
    const told = risingDiscount({ horizonWeight: 0.125, progress: () => 3 })
    expect((await advantagesIn(told, [group]))[0]?.map((value) => value?.toFixed(9))).toEqual(
      [0.25, 0.5, 1].map((value) => value.toFixed(9)),
    )
  })

  it('counts a Step as earned where something above 0 came', () => {
    const attempt = (rewards: readonly (number | null)[], outcome: number) => {
      const { trajectory, reward } = groupOf([[rewards.map((each) => ({ reward: each })), scored(outcome)]])
        .attempts[0]!
      return earnedSteps(stepped(trajectory, reward, outcome, true))
    }
    expect(attempt([0, 0.5, null, 0], 0)).toBe(2)
    expect(attempt([0, 0], 1)).toBe(2)
    expect(attempt([-1, 0], 0)).toBe(0)
  })
})

it('what was shown before a Step is what came since the policy last spoke', () => {
  const { trajectory } = groupOf([[[{ shown: 'Go.' }, { shown: 'hall' }, { shown: 'attic' }], scored(1)]]).attempts[0]!
  expect(shownBefore(trajectory)).toEqual(['Go.', 'hall', 'attic'])
  expect(shownBefore({ ...trajectory, steps: [] })).toEqual([''])
})
