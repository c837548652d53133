import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { advantagesIn, groupOf, type StepSketch } from '../../../test/support/episodes.ts'
import { creditContext, missing, scored, trajectoryOf, vetoed } from '../../../test/support/trajectories.ts'
import { type CreditEstimator, type Group, GroupId, type Reward, type StepJudge } from '../../core/index.ts'
import { batchZScore, grpo, leaveOneOut } from '../index.ts'
import { adca, anchorStates, bounded, discountedReturn, durationAware, gae, risingDiscount } from './index.ts'

/*
 * What holds of every estimator of Steps.
 */

/** Says what a Step says of itself. */
const outspoken: StepJudge = {
  name: 'outspoken',
  label: ({ nodes, steps }) =>
    steps.map(({ action }) => {
      const said = nodes.find(({ id }) => id === action)?.message.content
      return said === 'good' || said === 'bad' ? said : null
    }),
}
/** Steps take as long as their words. */
const durations: Parameters<typeof durationAware>[0]['durations'] = ({ nodes, steps }) =>
  steps.map(({ action }) => nodes.find(({ id }) => id === action)?.message.content.length ?? null)

const estimators: readonly CreditEstimator[] = [
  discountedReturn(),
  risingDiscount(),
  gae({ scale: 'none' }),
  gae(),
  adca({ labels: outspoken }),
  adca({ labels: outspoken, outcome: leaveOneOut() }),
  anchorStates(),
  bounded({ outcome: leaveOneOut(), by: anchorStates() }),
  durationAware({ outcome: leaveOneOut(), durations }),
  batchZScore({ outcome: discountedReturn() }),
]

const step: fc.Arbitrary<StepSketch> = fc.record({
  shown: fc.constantFrom('hall', 'attic', 'cellar'),
  said: fc.constantFrom('good', 'bad', 'hm'),
  reward: fc.constantFrom(undefined, 0, 0.25, -0.5, null),
}) as fc.Arbitrary<StepSketch>
const steps = fc.array(step, { minLength: 1, maxLength: 4 })
const value = fc.integer({ min: -8, max: 8 }).map((n) => n / 8)
const reward: fc.Arbitrary<Reward> = fc.oneof(value.map(scored), value.map(vetoed), fc.constant(missing))
const attempts = fc.array(fc.tuple(steps, reward), { maxLength: 6 })

const named = (groups: readonly Group[], estimator: CreditEstimator) =>
  estimator
    .credit(groups, creditContext)
    .then(
      ({ credits }) =>
        new Map(credits.map(({ trajectory, decision, advantage }) => [`${trajectory} ${decision}`, advantage])),
    )

describe.each(estimators.map((estimator) => [estimator.name, estimator] as const))('%s', (_, estimator) => {
  it('does not depend on the order of attempts', async () => {
    await fc.assert(
      fc.asyncProperty(attempts, fc.nat(), async (sketch, turn) => {
        const group = groupOf(sketch)
        const at = sketch.length === 0 ? 0 : turn % sketch.length
        const turned = {
          ...group,
          attempts: [...group.attempts.slice(at), ...group.attempts.slice(0, at)].toReversed(),
        }
        const [straight, permuted] = [await named([group], estimator), await named([turned], estimator)]
        expect(permuted.size).toBe(straight.size)
        for (const [key, advantage] of straight) expect(permuted.get(key)).toBeCloseTo(advantage ?? Number.NaN, 6)
      }),
      { numRuns: 60 },
    )
  })

  it('never credits a vetoed attempt above 0 (invariant 5)', async () => {
    let seen = 0
    await fc.assert(
      fc.asyncProperty(attempts, async (sketch) => {
        const found = await advantagesIn(estimator, [groupOf(sketch)])
        for (const [i, [, { status }]] of sketch.entries()) {
          if (status !== 'vetoed') continue
          for (const advantage of found[i] ?? []) {
            expect(advantage ?? 0).toBeLessThanOrEqual(0)
            seen++
          }
        }
      }),
      { numRuns: 60 },
    )
    expect(seen).toBeGreaterThan(0)
  })

  it('takes no notice of an attempt whose reward is missing, and counts it (invariant 1)', async () => {
    await fc.assert(
      fc.asyncProperty(attempts, async (sketch) => {
        const group = groupOf(sketch)
        const known = { ...group, attempts: group.attempts.filter(({ reward }) => reward.status !== 'missing') }
        expect(await named([group], estimator)).toEqual(await named([known], estimator))
        const { counts } = await estimator.credit([group], creditContext)
        expect(counts.missing).toBe(group.attempts.length - known.attempts.length)
      }),
      { numRuns: 60 },
    )
  })

  it('gives finite numbers only, and each Decision one at most', async () => {
    await fc.assert(
      fc.asyncProperty(attempts, async (sketch) => {
        const { credits } = await estimator.credit([groupOf(sketch)], creditContext)
        for (const { advantage } of credits) expect(Number.isFinite(advantage)).toBe(true)
        expect(new Set(credits.map(({ trajectory, decision }) => `${trajectory} ${decision}`)).size).toBe(
          credits.length,
        )
      }),
      { numRuns: 60 },
    )
  })

  it('has nothing to say of nothing', async () => {
    expect((await estimator.credit([], creditContext)).credits).toEqual([])
    expect((await estimator.credit([groupOf([])], creditContext)).credits).toEqual([])
  })

  it('takes an attempt without Steps as one Step, whatever it decided', async () => {
    const attempts = [scored(1), scored(0)].map((earned, i) => ({
      trajectory: trajectoryOf({ id: `t${i}`, decisions: [{}, {}] }),
      reward: earned,
    }))
    const found = await advantagesIn(estimator, [{ id: GroupId.parse('g'), attempts }])
    expect(found[0]?.[0]).toBeGreaterThan(0)
    expect(found[0]?.[1]).toBe(found[0]?.[0])
    expect(found[1]?.[0]).toBeLessThan(0)
  })
})

describe('no sign turns', () => {
  const outcomes = [grpo(), leaveOneOut()]
  const reweighting = outcomes.flatMap((outcome) => [
    [outcome, bounded({ outcome, by: anchorStates(), band: 0.9 })] as const,
    [outcome, durationAware({ outcome, durations })] as const,
    [outcome, batchZScore({ outcome, centre: 'kept' })] as const,
  ])
  it.each(reweighting.map(([outcome, estimator]) => [estimator.name, outcome, estimator] as const))(
    'in %s',
    async (_, outcome, estimator) => {
      await fc.assert(
        fc.asyncProperty(attempts, async (sketch) => {
          const groups = [groupOf(sketch)]
          const [before, after] = [await named(groups, outcome), await named(groups, estimator)]
          expect(after.size).toBe(before.size)
          for (const [key, advantage] of before) {
            expect(Math.sign(after.get(key) ?? Number.NaN) * Math.sign(advantage ?? 0)).toBeGreaterThanOrEqual(0)
          }
        }),
        { numRuns: 60 },
      )
    },
  )
})

describe('shift and scale', () => {
  const outcomeOnly = fc.array(
    fc.tuple(
      fc.array(fc.record({ shown: fc.constantFrom('a', 'b') }), { minLength: 3, maxLength: 3 }),
      value.map(scored),
    ),
    { minLength: 2, maxLength: 5 },
  )

  it.each(
    [discountedReturn(), gae({ scale: 'none' }), anchorStates({ outcome: leaveOneOut(), scale: 'none' })].map(
      (e) => [e.name, e] as const,
    ),
  )('%s: twice the rewards, twice the credit; one more everywhere changes nothing', async (_, estimator) => {
    await fc.assert(
      fc.asyncProperty(outcomeOnly, async (sketch) => {
        const of = (change: (value: number) => number) =>
          named([groupOf(sketch.map(([own, earned]) => [own, scored(change(earned.value ?? 0))]))], estimator)
        const [plain, twice, more] = [await of((r) => r), await of((r) => 2 * r), await of((r) => r + 1)]
        for (const [key, advantage] of plain) {
          expect(twice.get(key)).toBeCloseTo(2 * (advantage ?? Number.NaN), 9)
          // States that come again within an attempt lie at different distances from its end.
          if (!estimator.name.startsWith('anchor')) expect(more.get(key)).toBeCloseTo(advantage ?? Number.NaN, 9)
        }
      }),
      { numRuns: 60 },
    )
  })
})
