import { expect, it } from 'vitest'
import { missing, scored, trajectoryOf } from '../../../../test/support/trajectories.ts'
import { type HoldoutTask, TaskId } from '../../../core/index.ts'
import { ratesByTier, rivalsOf } from './rivals.ts'
import { Schedule } from './schedule.ts'
import type { ScriptedResults } from './scripted.ts'
import { initialWeights } from '../../run/state.ts'

const id = (name: string) => TaskId.parse(name)
const task = (name: string, tier?: string): HoldoutTask => ({
  id: id(name),
  instruction: 'Do it.',
  data: null,
  split: 'holdout',
  ...(tier ? { tier } : {}),
})
const script = (name: string, beat: boolean, scores: Record<string, number | null>): ScriptedResults => ({
  name,
  beat,
  scores: new Map(Object.entries(scores).map(([task, score]) => [id(task), score])),
})
const run = (passes: number, updates: number) => ({
  taught: { state: { ...initialWeights, passes } },
  schedule: Schedule.parse({ updates }),
})
const primed = [
  { trajectory: trajectoryOf({ id: 'a-t', task: 'a' }), reward: scored(0.5) },
  { trajectory: trajectoryOf({ id: 'b-t', task: 'b' }), reward: missing },
]

it('the primed policy is a rival where there was imitation, and learning was to come after it', () => {
  expect([...(rivalsOf(run(2, 8), [], primed)['primed'] ?? [])]).toEqual([
    ['a', { score: 0.5 }],
    ['b', { score: null }],
  ])
  expect(rivalsOf(run(2, 0), [], primed)).toEqual({})
  expect(rivalsOf(run(0, 8), [], primed)).toEqual({})
})

it('scripted policies are rivals where they are to be beaten, and only there', () => {
  const scripted = [script('constant answer', true, { a: 1, b: null }), script('expert', false, { a: 1, b: 1 })]
  const rivals = rivalsOf(run(0, 8), scripted, primed)
  expect(Object.keys(rivals)).toEqual(['constant answer'])
  expect(rivals['constant answer']?.get(id('a'))).toEqual({ score: 1 })
})

it('rates are by tier, of the tasks that have a score; success is the best reward there is', () => {
  const tasks = [task('a'), task('b'), task('c'), task('d', 'hard')]
  const rates = ratesByTier([script('expert', false, { a: 2, b: 1, d: 2 })], tasks, 2)
  expect(rates).toMatchObject([
    { name: 'expert', tier: 'all', rate: { success: 0.5, n: 2, missing: 1 } },
    { name: 'expert', tier: 'hard', rate: { success: 1, n: 1, missing: 0 } },
  ])
})

it.each([[['expert', 'expert']], [['primed']]])('refuses policies that no reason could tell apart: %j', (names) => {
  const scripted = names.map((name) => script(name, true, { a: 1 }))
  expect(() => ratesByTier(scripted, [task('a')], 1)).toThrow(
    expect.objectContaining({ code: 'learn/duplicate-baseline' }),
  )
})
