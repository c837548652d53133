import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { episodeOf, type StepSketch } from '../../test/support/episodes.ts'
import { creditContext, missing, sampledSpan, scored, vetoed } from '../../test/support/trajectories.ts'
import { type CreditEstimator, type Group, GroupId, type Reward, type ScoredTrajectory } from '../core/index.ts'
import { hindsight, maxRl, team, valueBaseline } from './index.ts'

/*
 * What holds of estimators that have no property test of their own: neither the order of attempts nor that of groups says
 * anything. Those of Steps have theirs in by-step.
 */

const estimators: readonly CreditEstimator[] = [
  team(),
  team({ share: 'shapley' }),
  team({ share: 'shapley', nobody: 0.25, members: ['planner', 'coder'] }),
  maxRl(),
  maxRl({ floor: -1 }),
  valueBaseline(),
  valueBaseline({ scale: 'none', folds: 3 }),
  // What was said is as much likelier with a hint as it is long.
  hindsight({
    hinted: ({ nodes }, { output }) => {
      const said = nodes.find(({ id }) => id === output)?.message.content ?? ''
      return said === 'hm' ? null : [-1 + said.length / 10, -1.5]
    },
  }),
]

const step = fc.record({
  shown: fc.constantFrom('hall', 'attic', 'the cellar'),
  said: fc.constantFrom('good', 'bad', 'hm'),
  // Nobody, one or both: all coalitions that shares need are there often enough.
  by: fc.subarray(['planner', 'coder']),
}) satisfies fc.Arbitrary<StepSketch>
const value = fc.integer({ min: 0, max: 8 }).map((n) => n / 8)
const reward: fc.Arbitrary<Reward> = fc.oneof(
  { weight: 4, arbitrary: value.map(scored) },
  { weight: 1, arbitrary: value.map(vetoed) },
  { weight: 1, arbitrary: fc.constant(missing) },
)
const attempts = fc.array(fc.tuple(fc.array(step, { minLength: 1, maxLength: 2 }), reward), { maxLength: 7 })
const sketches = fc.array(attempts, { minLength: 1, maxLength: 3 })

/** Its decisions sampled what stands in their Steps. */
function attemptOf(steps: readonly StepSketch[], earned: Reward, group: number, i: number): ScoredTrajectory {
  const trajectory = episodeOf(steps, `g${group}t${i}`, `g${group}`)
  return {
    reward: earned,
    trajectory: {
      ...trajectory,
      task: { ...trajectory.task, instruction: steps[0]?.shown ?? '' },
      nodes: trajectory.nodes.map((node) =>
        node.message.role === 'assistant' ? { ...node, spans: [sampledSpan([5, 6], -1)] } : node,
      ),
      decisions: trajectory.decisions.map((decision) => ({
        ...decision,
        output: trajectory.steps[decision.step]?.action ?? null,
      })),
    },
  }
}

const groupsOf = (sketched: readonly (readonly (readonly [StepSketch[], Reward])[])[]): readonly Group[] =>
  sketched.map((group, g) => ({
    id: GroupId.parse(`g${g}`),
    attempts: group.map(([steps, earned], i) => attemptOf(steps, earned, g, i)),
  }))

const said = async (estimator: CreditEstimator, groups: readonly Group[]) => {
  const { credits, counts } = await estimator.credit(groups, creditContext)
  const of = new Map(credits.map(({ trajectory, decision, advantage }) => [`${trajectory} ${decision}`, advantage]))
  expect(of.size).toBe(credits.length)
  return { of, counts }
}

/** The same things in an order that numbers draw. */
function reordered<T>(all: readonly T[], keys: readonly number[]): readonly T[] {
  return all
    .map((one, i) => ({ one, key: keys[i % keys.length] ?? 0, i }))
    .toSorted((a, b) => a.key - b.key || b.i - a.i)
    .map(({ one }) => one)
}

describe.each(estimators.map((estimator, i) => [`${i} ${estimator.name}`, estimator] as const))(
  '%s',
  (_, estimator) => {
    it('does not depend on the order of attempts and groups', async () => {
      let compared = 0
      const keys = fc.array(fc.nat(), { minLength: 7, maxLength: 7 })
      await fc.assert(
        fc.asyncProperty(sketches, keys, async (sketched, order) => {
          const groups = groupsOf(sketched)
          const turned = reordered(groups, order).map((group) => ({
            ...group,
            attempts: reordered(group.attempts, order),
          }))
          const [straight, permuted] = [await said(estimator, groups), await said(estimator, turned)]
          expect(permuted.counts).toEqual(straight.counts)
          expect([...permuted.of.keys()].toSorted()).toEqual([...straight.of.keys()].toSorted())
          for (const [key, advantage] of straight.of) {
            if (advantage === null) expect(permuted.of.get(key)).toBeNull()
            else expect(permuted.of.get(key)).toBeCloseTo(advantage, 6)
            if (advantage) compared++
          }
        }),
        { numRuns: 80 },
      )
      expect(compared).toBeGreaterThan(0)
    })

    it('never credits a vetoed attempt above 0 (invariant 5), nor one whose reward is missing (invariant 1)', async () => {
      let seen = 0
      await fc.assert(
        fc.asyncProperty(sketches, async (sketched) => {
          const groups = groupsOf(sketched)
          const status = new Map(
            groups.flatMap((group) =>
              group.attempts.map(({ trajectory, reward: { status: is } }) => [String(trajectory.id), is] as const),
            ),
          )
          for (const [key, advantage] of (await said(estimator, groups)).of) {
            const is = status.get(key.split(' ')[0] ?? '')
            expect(is).not.toBe('missing')
            if (is !== 'vetoed') continue
            seen++
            expect(advantage ?? 0).toBeLessThanOrEqual(0)
          }
        }),
        { numRuns: 80 },
      )
      expect(seen).toBeGreaterThan(0)
    })
  },
)
