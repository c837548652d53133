import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attemptsOf, creditContext, missing, scored, vetoed } from '../../test/support/trajectories.ts'
import { type CreditEstimator, type Group, GroupId, type Reward } from '../core/index.ts'
import { groupMean, grpo, leaveOneOut } from './index.ts'

const groupOf = (rewards: readonly Reward[], id = 'g'): Group => ({
  id: GroupId.parse(id),
  attempts: attemptsOf(rewards),
})

/** The advantage of each attempt; `undefined` where it has no credit. */
async function advantagesOf(
  estimator: CreditEstimator,
  rewards: readonly Reward[],
): Promise<(number | null | undefined)[]> {
  const { credits } = await estimator.credit([groupOf(rewards)], creditContext)
  return rewards.map((_, i) => credits.find(({ trajectory }) => trajectory === `t${i}`)?.advantage)
}

const rewards = [1, 0, 0, 0.5].map(scored)
const estimators = [groupMean(), grpo(), leaveOneOut()]

describe('by hand, for rewards 1, 0, 0, 0.5 (mean 0.375)', () => {
  it('group mean: the distance from the mean', async () => {
    expect(await advantagesOf(groupMean(), rewards)).toEqual([0.625, -0.375, -0.375, 0.125])
  })

  it('leave one out: the distance from the mean of the others', async () => {
    const others = [0.5 / 3, 1.5 / 3, 1.5 / 3, 1 / 3]
    const expected = [1 - (others[0] ?? 0), -(others[1] ?? 0), -(others[2] ?? 0), 0.5 - (others[3] ?? 0)]
    for (const [i, a] of (await advantagesOf(leaveOneOut(), rewards)).entries())
      expect(a).toBeCloseTo(expected[i] ?? Number.NaN, 12)
  })

  it('GRPO: the distance in population standard deviations', async () => {
    // Squares: 0.390625 + 0.140625 + 0.140625 + 0.015625 = 0.6875; variance 0.171875.
    const deviation = Math.sqrt(0.171875)
    const expected = [0.625, -0.375, -0.375, 0.125].map((distance) => distance / deviation)
    for (const [i, a] of (await advantagesOf(grpo({ epsilon: 0 }), rewards)).entries())
      expect(a).toBeCloseTo(expected[i] ?? Number.NaN, 12)
    expect((await advantagesOf(grpo({ epsilon: 1 }), rewards))[0]).toBeCloseTo(0.625 / (deviation + 1), 12)
  })

  it('two attempts, one solved: ±½, ±1 and ±1', async () => {
    const pair = [scored(1), scored(0)]
    expect(await advantagesOf(groupMean(), pair)).toEqual([0.5, -0.5])
    expect(await advantagesOf(leaveOneOut(), pair)).toEqual([1, -1])
    expect(await advantagesOf(grpo({ epsilon: 0 }), pair)).toEqual([1, -1])
  })
})

describe.each(estimators.map((estimator) => [estimator.name, estimator] as const))('%s', (_, estimator) => {
  const value = fc.integer({ min: -8, max: 8 }).map((n) => n / 8)
  const anyReward = fc.oneof(value.map(scored), value.map(vetoed), fc.constant(missing))

  it('sums to 0 over a group without vetoes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(value.map(scored), fc.constant(missing))), async (group) => {
        const sum = (await advantagesOf(estimator, group)).reduce<number>((total, a) => total + (a ?? 0), 0)
        expect(Math.abs(sum)).toBeLessThan(1e-9)
      }),
    )
  })

  it('does not depend on the order of attempts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyReward, { maxLength: 12 }), fc.infiniteStream(fc.nat()), async (group, keys) => {
        const order = group.map((_, i) => ({ i, key: keys.next().value ?? 0 })).toSorted((a, b) => a.key - b.key)
        const straight = await advantagesOf(estimator, group)
        const permuted = await advantagesOf(
          estimator,
          order.map(({ i }) => group[i] ?? missing),
        )
        order.forEach(({ i }, place) => {
          const [a, b] = [straight[i], permuted[place]]
          if (typeof a === 'number') expect(b).toBeCloseTo(a, 9)
          else expect(b).toBe(a)
        })
      }),
    )
  })

  it('moves with the reward: more is never credited less', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 2 }), async (values) => {
        const advantages = await advantagesOf(estimator, values.map(scored))
        values.forEach((a, i) => {
          values.forEach((b, j) => {
            if (a > b && advantages[i] !== undefined) expect(advantages[i]).toBeGreaterThan(advantages[j] ?? Number.NaN)
          })
        })
      }),
    )
  })

  it('does not move when every reward moves by the same', async () => {
    const moved = await advantagesOf(estimator, [1.25, 0.25, 0.25, 0.75].map(scored))
    for (const [i, a] of (await advantagesOf(estimator, rewards)).entries())
      expect(moved[i]).toBeCloseTo(a ?? Number.NaN, 9)
  })

  it('never credits a vetoed attempt above 0, and keeps its reward in the baseline (invariant 5)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyReward, { maxLength: 12 }), async (group) => {
        const advantages = await advantagesOf(estimator, group)
        const honest = await advantagesOf(
          estimator,
          group.map((reward) => (reward.status === 'vetoed' ? scored(reward.value) : reward)),
        )
        group.forEach(({ status }, i) => {
          if (status === 'vetoed') expect(advantages[i] ?? 0).toBeLessThanOrEqual(0)
          else expect(advantages[i]).toBe(honest[i])
        })
      }),
    )
    expect((await advantagesOf(estimator, [vetoed(1), scored(0)]))[0]).toBe(0)
  })

  it('leaves out a missing reward as if its attempt had not been, and counts it (invariant 1)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyReward), async (group) => {
        const known = group.filter(({ status }) => status !== 'missing')
        const { counts } = await estimator.credit([groupOf(group)], creditContext)
        expect(counts.missing).toBe(group.length - known.length)
        const advantages = await advantagesOf(estimator, group)
        expect(advantages.filter((_, i) => group[i]?.status === 'missing').every((a) => a === undefined)).toBe(true)
        expect(advantages.filter((_, i) => group[i]?.status !== 'missing')).toEqual(
          await advantagesOf(estimator, known),
        )
      }),
    )
  })

  it('counts what carries no signal, and credits nothing there', async () => {
    const groups = [
      groupOf([scored(1), scored(1), missing], 'uniform'),
      groupOf([scored(1), missing], 'single'),
      groupOf([missing, missing], 'none'),
      groupOf([vetoed(0), vetoed(0)], 'gamed'),
    ]
    expect(await estimator.credit(groups, creditContext)).toEqual({
      credits: [],
      counts: { missing: 4, uniformGroups: 2, singletonGroups: 2, vetoed: 2 },
    })
    expect(await estimator.credit([], creditContext)).toMatchObject({ credits: [] })
  })

  it('gives every decision of an attempt its advantage, and compares within groups only', async () => {
    const attempts = attemptsOf([scored(1), scored(0)], { decisions: [{}, {}] })
    const far = attemptsOf([scored(100), scored(99)])
    const [near] = (await estimator.credit([{ id: GroupId.parse('g'), attempts }], creditContext)).credits
    const { credits } = await estimator.credit(
      [
        { id: GroupId.parse('h'), attempts: far },
        { id: GroupId.parse('g'), attempts },
      ],
      creditContext,
    )
    expect(credits.length).toBe(6)
    expect(credits.slice(2, 4)).toEqual([near, { ...near, decision: 'd1' }])
  })
})
