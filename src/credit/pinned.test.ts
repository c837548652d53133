import { describe, expect, it } from 'vitest'
import { advantagesIn, episodeOf, groupOf, type StepSketch } from '../../test/support/episodes.ts'
import { creditContext, missing, scored, vetoed } from '../../test/support/trajectories.ts'
import { type Group, GroupId, type Reward } from '../core/index.ts'
import { batchZScore, gae, groupMean, leaveOneOut, maxRl } from './index.ts'
import vectors from './credit.vectors.json' with { type: 'json' }

const closeTo = (
  found: readonly (readonly (number | null | undefined)[])[],
  wanted: readonly (readonly number[])[],
) => {
  expect(found.map(({ length }) => length)).toEqual(wanted.map(({ length }) => length))
  for (const [i, row] of wanted.entries())
    for (const [j, value] of row.entries()) expect(found[i]?.[j], `${i}, ${j}`).toBeCloseTo(value, 8)
}
const outcomes = (rewards: readonly Reward[], id = 'g') =>
  groupOf(
    rewards.map((reward) => [[{}], reward] as const),
    id,
  )

describe('GAE', () => {
  it.each(vectors.gae)('as numpy has it, at γ $discount, λ $trace, ridge $lambda', async (recorded) => {
    const { attempts, discount, trace, lambda, advantages } = recorded
    // All rewards but the last are Steps' own; the last is the outcome.
    const group = groupOf(
      attempts.map(({ rewards }): readonly [readonly StepSketch[], Reward] => [
        rewards.map((reward, t) => (t < rewards.length - 1 ? { reward } : {})),
        scored(rewards.at(-1) ?? 0),
      ]),
    )
    const features = ({ id }: { readonly id: string }) => attempts[Number(id.slice(1))]?.features ?? []
    const estimator = gae({ features, discount, trace, lambda, folds: 99, scale: 'none' })
    closeTo(await advantagesIn(estimator, [group]), advantages)
  })

  // Two attempts, no features: V is the mean return of the other. t0 earns 1, t1 earns 0, in two Steps each.
  it('by hand: V of t0 is 0 and of t1 is 1', async () => {
    const two = [{}, {}]
    const group = groupOf([
      [two, scored(1)],
      [two, scored(0)],
    ])
    const features = () => [[], []]
    // t0: δ = 0 and 1 − 0; A₁ = 1, A₀ = 0 + ½·1. t1: δ₁ = 0 − 1, δ₀ = 0 + 1 − 1; A₁ = −1, A₀ = −½.
    const estimator = gae({ features, trace: 0.5, scale: 'none' })
    closeTo(await advantagesIn(estimator, [group]), [
      [0.5, 1],
      [-0.5, -1],
    ])
    // In deviations: the mean is 0, the variance (2·0.25 + 2·1)/4.
    const unit = Math.sqrt(2.5 / 4)
    closeTo(await advantagesIn(gae({ features, trace: 0.5, epsilon: 0 }), [group]), [
      [0.5 / unit, 1 / unit],
      [-0.5 / unit, -1 / unit],
    ])
  })

  it('never holds the attempt’s own rewards: with λ 1 its credit moves by as much as its reward', async () => {
    const of = async (reward: number) =>
      (
        await advantagesIn(gae({ trace: 1, scale: 'none' }), [
          groupOf(
            [3, 2, 1].map((n, i) => [
              Array.from({ length: n }, () => ({ shown: `${n}` })),
              scored(i === 0 ? reward : i),
            ]),
          ),
        ])
      )[0] ?? []
    const [before, after] = [await of(0), await of(5)]
    for (const [t, value] of after.entries()) expect((value ?? 0) - (before[t] ?? 0)).toBeCloseTo(5, 9)
  })

  it('compares groups of one with each other, and one alone with nothing', async () => {
    const alone = (reward: number, i: number): Group => ({
      id: GroupId.parse(`g${i}`),
      attempts: [{ trajectory: episodeOf([{}], `t${i}`, `g${i}`), reward: scored(reward) }],
    })
    const { credits } = await gae().credit([alone(1, 0), alone(0, 1)], creditContext)
    expect(credits.map(({ advantage }) => Math.sign(advantage ?? 0))).toEqual([1, -1])
    expect(await gae().credit([alone(1, 0)], creditContext)).toEqual({
      credits: [],
      counts: { missing: 0, uniformGroups: 0, singletonGroups: 1, vetoed: 0, incomparable: 0 },
    })
  })

  it('refuses features that fit no Steps, and options out of range', async () => {
    const two = outcomes([scored(1), scored(0)])
    await expect(gae({ features: () => [] }).credit([two], creditContext)).rejects.toMatchObject({
      code: 'credit/bad-features',
    })
    expect(() => gae({ discount: 1.5 })).toThrow('1.5')
    expect(() => gae({ trace: Number.NaN })).toThrow('NaN')
    expect(() => gae({ lambda: 0 })).toThrow('lambda')
  })
})

describe('MaxRL', () => {
  it.each(vectors.maxRl)('as numpy has it, above $floor', async ({ floor, rewards, advantages }) => {
    const found = await advantagesIn(maxRl({ floor }), [outcomes(rewards.map(scored))])
    closeTo(
      found,
      advantages.map((advantage) => [advantage]),
    )
  })

  it('by hand: one success of four is worth 3, and three of four a third each', async () => {
    closeTo(await advantagesIn(maxRl(), [outcomes([1, 0, 0, 0].map(scored))]), [[3], [-1], [-1], [-1]])
    closeTo(await advantagesIn(maxRl(), [outcomes([1, 1, 1, 0].map(scored))]), [[1 / 3], [1 / 3], [1 / 3], [-1]])
  })

  it('does not move with the scale, drops what says nothing, and never praises what was gamed', async () => {
    const [plain, tenfold] = [
      [1, 0.5, 0],
      [10, 5, 0],
    ].map((rewards) => outcomes(rewards.map(scored)))
    expect(await advantagesIn(maxRl(), [plain!])).toEqual(await advantagesIn(maxRl(), [tenfold!]))
    expect(await advantagesIn(maxRl(), [outcomes([vetoed(1), scored(0), missing])])).toEqual([[0], [-1], [undefined]])
    expect((await maxRl().credit([outcomes([scored(0), scored(0)])], creditContext)).counts.uniformGroups).toBe(1)
  })

  it('refuses a reward below its floor', async () => {
    const below = outcomes([scored(1), scored(-0.1)])
    await expect(maxRl().credit([below], creditContext)).rejects.toMatchObject({ code: 'credit/below-floor' })
    closeTo(await advantagesIn(maxRl({ floor: -0.1 }), [below]), [[1], [-1]])
  })
})

describe('the batch z-score', () => {
  const { groups, epsilon, advantages } = vectors.zScore
  const batch = groups.map((rewards, g): Group => {
    const id = `g${g}`
    const attempts = rewards.map((reward, i) => ({
      trajectory: episodeOf([{}], `t${g}-${i}`, id),
      reward: scored(reward),
    }))
    return { id: GroupId.parse(id), attempts }
  })

  it('as numpy has it', async () => {
    closeTo(
      await advantagesIn(batchZScore({ epsilon }), batch),
      advantages.flat().map((advantage) => [advantage]),
    )
  })

  it('weighs trajectories alike, however many Decisions they have', async () => {
    // Advantages ½, ½, ½ of the one and −½ of the other: mean 0, deviation ½.
    const group = groupOf([
      [[{}, {}, {}], scored(1)],
      [[{}], scored(0)],
    ])
    closeTo(await advantagesIn(batchZScore({ epsilon: 0 }), [group]), [[1, 1, 1], [-1]])
  })

  it('turns no sign where it divides alone, and never praises what was gamed', async () => {
    const group = outcomes([vetoed(1), scored(0), scored(0)])
    const capped = batchZScore({ outcome: groupMean(), epsilon: 0 })
    // Group mean: min(0, ⅔), −⅓, −⅓; the batch's mean is below 0, and would lift the vetoed one above it.
    expect((await advantagesIn(capped, [group]))[0]).toEqual([0])
    const kept = await advantagesIn(batchZScore({ outcome: leaveOneOut(), centre: 'kept' }), [group])
    expect(kept.map((own) => Math.sign(own[0] ?? 1))).toEqual([0, -1, -1])
  })
})
