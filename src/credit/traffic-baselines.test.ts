import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { creditContext, missing, scored, trajectoryOf, vetoed } from '../../test/support/trajectories.ts'
import type { CreditEstimator, Group, Reward } from '../core/index.ts'
import { batchBaseline, taskFeatures, valueBaseline } from './index.ts'
import { ridge } from './ridge.ts'

/** Groups of one, as traffic has them. */
const batchOf = (rewards: readonly Reward[]): readonly Group[] =>
  rewards.map((reward, i) => {
    const trajectory = trajectoryOf({ id: `t${i}`, group: `g${i}`, task: `task-${i}` })
    return { id: trajectory.group, attempts: [{ trajectory, reward }] }
  })

async function advantagesOf(estimator: CreditEstimator, rewards: readonly Reward[]): Promise<(number | undefined)[]> {
  const { credits } = await estimator.credit(batchOf(rewards), creditContext)
  return rewards.map((_, i) => credits.find(({ trajectory }) => trajectory === `t${i}`)?.advantage ?? undefined)
}

const close = (actual: readonly (number | undefined)[], expected: readonly number[]) => {
  expect(actual).toHaveLength(expected.length)
  expected.forEach((value, i) => expect(actual[i]).toBeCloseTo(value, 10))
}

/** The number of a test's trajectory is its one feature. */
const byNumber = ({ id }: { readonly id: string }) => [Number(id.slice(1))]

describe('the batch baseline, for rewards 1, 0, 0, 0.5 (mean 0.375, variance 0.171875)', () => {
  const rewards = [1, 0, 0, 0.5].map(scored)

  it('is the distance from the mean in standard deviations', async () => {
    const sigma = Math.sqrt(0.171875)
    close(
      await advantagesOf(batchBaseline({ epsilon: 0 }), rewards),
      [0.625, -0.375, -0.375, 0.125].map((distance) => distance / sigma),
    )
  })

  it('or in the reward’s unit', async () => {
    close(await advantagesOf(batchBaseline({ scale: 'none' }), rewards), [0.625, -0.375, -0.375, 0.125])
  })

  it('leaves out what is missing, and what is vetoed counts and is never praised', async () => {
    const estimator = batchBaseline({ scale: 'none' })
    expect(await advantagesOf(estimator, [scored(1), missing, vetoed(0)])).toEqual([0.5, undefined, -0.5])
    // A floor below the honest ones' mean would praise it: −1, −1 and −0.4 have the mean −0.8.
    close(await advantagesOf(estimator, [scored(-1), scored(-1), vetoed(-0.4)]), [-0.2, -0.2, 0])
    expect((await estimator.credit(batchOf([scored(1), missing, vetoed(0)]), creditContext)).counts).toEqual({
      missing: 1,
      uniformGroups: 0,
      singletonGroups: 0,
      vetoed: 1,
    })
  })

  it('says when there is nothing to compare', async () => {
    expect((await batchBaseline().credit([], creditContext)).counts).toMatchObject({
      uniformGroups: 0,
      singletonGroups: 0,
    })
    expect((await batchBaseline().credit(batchOf([scored(1), missing]), creditContext)).counts).toMatchObject({
      singletonGroups: 1,
    })
    expect((await batchBaseline().credit(batchOf([scored(1), scored(1)]), creditContext)).counts).toMatchObject({
      uniformGroups: 1,
    })
  })
})

describe('ridge regression, by hand', () => {
  // x = 0, 1, 2 and y = 0, 1, 5: centred −1, 0, 1 and −2, −1, 3; Σx² = 2, Σxy = 5.
  it('of one feature', async () => {
    const predict = ridge([[0], [1], [2]], [0, 1, 5], 0.5)
    expect(predict([1])).toBeCloseTo(2, 12)
    expect(predict([3])).toBeCloseTo(2 + (5 / 2.5) * 2, 12)
  })

  // x = (−1, −1), (1, 0), (0, 1) are centred: XᵀX + I = [3 1; 1 3]. y = 1, 3, 2 is centred −1, 1, 0: Xᵀy = (2, 1).
  it('of two features that go together', async () => {
    const predict = ridge(
      [
        [-1, -1],
        [1, 0],
        [0, 1],
      ],
      [1, 3, 2],
      1,
    )
    // w = [3 −1; −1 3]/8 · (2, 1) = (5/8, 1/8).
    expect(predict([1, 0])).toBeCloseTo(2 + 5 / 8, 12)
    expect(predict([0, 1])).toBeCloseTo(2 + 1 / 8, 12)
  })

  it('knows the mean alone when nothing tells tasks apart, and nothing without observations', async () => {
    expect(ridge([[1], [1]], [2, 4], 1)([7])).toBe(3)
    expect(ridge([], [], 1)([7])).toBe(0)
  })
})

describe('the value baseline', () => {
  const estimator = valueBaseline({ features: byNumber, lambda: 1, folds: 99, scale: 'none' })

  it('is the distance from what the others foretell: rewards 0, 1, 1 at x = 0, 1, 2, by hand', async () => {
    // Without t0: x̄ = 1.5, ȳ = 1, w = 0 → V(0) = 1. Without t1: x̄ = 1, ȳ = 0.5, w = 1/(2 + 1) → V(1) = 0.5.
    // Without t2: x̄ = ȳ = 0.5, w = 0.5/(0.5 + 1) = 1/3 → V(2) = 0.5 + 1.5/3 = 1.
    close(await advantagesOf(estimator, [0, 1, 1].map(scored)), [-1, 0.5, 0])
  })

  it('in standard deviations of the advantages', async () => {
    // −1, 0.5, 0: mean −1/6, variance (1 + 0.25)/3 − 1/36.
    const sigma = Math.sqrt(1.25 / 3 - 1 / 36)
    const scaled = valueBaseline({ features: byNumber, lambda: 1, folds: 99, epsilon: 0 })
    close(await advantagesOf(scaled, [0, 1, 1].map(scored)), [-1 / sigma, 0.5 / sigma, 0])
  })

  it('never holds the attempt’s own reward', async () => {
    const rewards = fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 3, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(rewards, fc.nat(), fc.integer({ min: 9, max: 20 }), async (values, at, other) => {
        const i = at % values.length
        const changed = values.with(i, other)
        const of = async (these: readonly number[]) =>
          (await advantagesOf(valueBaseline({ scale: 'none' }), these.map(scored)))[i]
        const both = [await of(values), await of(changed)] as const
        if (both[0] === undefined || both[1] === undefined) return
        // Its baseline is the same, so its advantage moves by as much as its reward.
        expect(both[1] - both[0]).toBeCloseTo(other - (values[i] as number), 9)
      }),
    )
  })

  it('never praises what is vetoed', async () => {
    // Without t2: V(2) is −1.
    expect((await advantagesOf(estimator, [scored(-1), scored(-1), vetoed(0)]))[2]).toBe(0)
  })

  it('takes what a hard task costs from nobody: the same merit counts the same', async () => {
    const rewards = Array.from({ length: 40 }, (_, i) => scored(i % 2 === 0 ? 0.2 : 0.8))
    const parity = valueBaseline({ features: ({ id }) => [Number(id.slice(1)) % 2], lambda: 0.01, scale: 'none' })
    for (const advantage of await advantagesOf(parity, rewards))
      expect(Math.abs(advantage as number)).toBeLessThan(0.01)
    expect(Math.max(...(await advantagesOf(batchBaseline({ scale: 'none' }), rewards)).map(Number))).toBeCloseTo(
      0.3,
      10,
    )
  })
})

it('features tell what was asked, and nothing of what was done', async () => {
  const of = (instruction: string, nodes = trajectoryOf().nodes) => {
    const trajectory = trajectoryOf()
    return taskFeatures({ ...trajectory, nodes, task: { ...trajectory.task, instruction } })
  }
  expect(of('Refund my order')).toEqual(of('refund, MY order!'))
  expect(of('Refund my order')).not.toEqual(of('Translate this'))
  expect(Math.hypot(...of('one two three').slice(0, 32))).toBeCloseTo(1, 12)
  expect(of('')).toEqual([...Array.from({ length: 33 }, () => 0), Math.log1p(1)])
  const said = trajectoryOf({
    nodes: [{ id: 'a' }, { id: 'b', message: { role: 'assistant', content: 'x' } }, { id: 'c' }],
  })
  expect(of('hi', said.nodes)).toEqual(of('hi'))
})
