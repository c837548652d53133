import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { advantagesIn, groupOf, type StepSketch } from '../../test/support/episodes.ts'
import { creditContext, missing, scored, trajectoryOf, vetoed } from '../../test/support/trajectories.ts'
import { GroupId, type Reward } from '../core/index.ts'
import { roleCredit } from './index.ts'

const roles = ['generator', 'verifier', 'refiner']
/** What each role said in turn, a letter each. */
const path = (said: string): readonly StepSketch[] =>
  said.split('').map((letter, i) => ({ said: letter, by: [roles[i] ?? 'other'] }))

/*
 * Generator a or b. After a, verifier x or y; after x, refiner p or q. Outcomes: axp 1, axq 0, ayp 1, ayq 1, bxp 0.
 * V(ax) = ½, V(ay) = 1, V(a) = ¾, V(bxp) = V(bx) = V(b) = 0.
 */
const leaves: readonly (readonly [string, Reward])[] = [
  ['axp', scored(1)],
  ['axq', scored(0)],
  ['ayp', scored(1)],
  ['ayq', scored(1)],
  ['bxp', scored(0)],
]
const tree = groupOf(leaves.map(([said, reward]) => [path(said), reward] as const))

describe('role credit, by hand', () => {
  it('is the value of a turn less that of its siblings', async () => {
    const estimator = roleCredit({ copies: 'sampled' })
    expect(await advantagesIn(estimator, [tree])).toEqual([
      [0.75, -0.5, 1],
      [0.75, -0.5, -1],
      [0.75, 0.5, 0],
      [0.75, 0.5, 0],
      [-0.75, undefined, undefined],
    ])
    expect((await estimator.credit([tree], creditContext)).counts).toEqual({
      missing: 0,
      uniformGroups: 0,
      singletonGroups: 0,
      vetoed: 0,
      incomparable: 2,
    })
  })

  it('shares among the copies of a forked beginning what it is worth once', async () => {
    const found = await advantagesIn(roleCredit(), [tree])
    expect(found.map((own) => own[0])).toEqual([0.75 / 4, 0.75 / 4, 0.75 / 4, 0.75 / 4, -0.75])
    expect(found[0]).toEqual([0.1875, -0.25, 1])
  })

  it('against a threshold, as in the paper, an only child as well', async () => {
    const found = await advantagesIn(roleCredit({ baseline: 0.5, copies: 'sampled' }), [tree])
    expect(found[0]).toEqual([0.25, 0, 0.5])
    expect(found[4]).toEqual([-0.5, -0.5, -0.5])
  })

  it('weighs children alike, however many leaves they have', async () => {
    // a: child x with outcomes 1, 1, 1 and child y with 0 → ½, not ¾.
    const uneven = groupOf(
      (
        [
          ['axp', 1],
          ['axq', 1],
          ['axr', 1],
          ['ayp', 0],
          ['bxp', 0],
        ] as const
      ).map(([said, value]) => [path(said), scored(value)] as const),
    )
    expect((await advantagesIn(roleCredit({ copies: 'sampled' }), [uneven]))[0]?.[0]).toBe(0.5)
  })

  it('tells who said it: the same words of another role are another turn', async () => {
    const group = groupOf([
      [[{ said: 'a', by: ['generator'] }], scored(1)],
      [[{ said: 'a', by: ['verifier'] }], scored(0)],
    ])
    expect(await advantagesIn(roleCredit(), [group])).toEqual([[1], [-1]])
  })

  it('takes no part of what is missing, and never praises what was gamed', async () => {
    const gamed = groupOf([
      [path('axp'), vetoed(1)],
      [path('axq'), scored(0)],
      [path('bxp'), missing],
      [path('bxp'), scored(0)],
    ])
    const found = await advantagesIn(roleCredit({ copies: 'sampled' }), [gamed])
    expect(found).toEqual([
      [0, undefined, 0],
      [0.5, undefined, -1],
      [undefined, undefined, undefined],
      [-0.5, undefined, undefined],
    ])
  })

  it('drops a group that says nothing, and attempts without Steps are a turn each', async () => {
    const alone = groupOf([[path('axp'), scored(1)]])
    const equal = groupOf([
      [path('a'), scored(1)],
      [path('b'), scored(1)],
    ])
    expect((await roleCredit().credit([alone, equal], creditContext)).counts).toMatchObject({
      singletonGroups: 1,
      uniformGroups: 1,
    })
    const stepless = [scored(1), scored(0)].map((reward, i) => ({
      trajectory: {
        ...trajectoryOf({ id: `t${i}` }),
        decisions: trajectoryOf().decisions.map((each) => ({ ...each, made: i })),
      },
      reward,
    }))
    expect(await advantagesIn(roleCredit(), [{ id: GroupId.parse('g'), attempts: stepless }])).toEqual([[1], [-1]])
  })
})

it('does not depend on the order of attempts', async () => {
  const sketch = fc.array(fc.tuple(fc.stringMatching(/^[ab]{1,3}$/), fc.integer({ min: 0, max: 4 })), {
    minLength: 2,
    maxLength: 7,
  })
  await fc.assert(
    fc.asyncProperty(sketch, async (attempts) => {
      const group = groupOf(attempts.map(([said, value]) => [path(said), scored(value / 4)] as const))
      const reversed = { ...group, attempts: group.attempts.toReversed() }
      const [straight, turned] = [
        await advantagesIn(roleCredit(), [group]),
        await advantagesIn(roleCredit(), [reversed]),
      ]
      for (const [i, own] of straight.entries()) {
        for (const [j, advantage] of own.entries()) {
          const other = turned.toReversed()[i]?.[j]
          if (typeof advantage === 'number') expect(other).toBeCloseTo(advantage, 9)
          else expect(other).toBe(advantage)
        }
      }
    }),
  )
})
