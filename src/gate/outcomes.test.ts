import { describe, expect, expectTypeOf, it } from 'vitest'
import { type Evaluate, type HoldoutTask, type LearnableTask, type Task, TaskId } from '../core/index.ts'
import { claimHoldout, type HoldoutClaim } from './ledger.ts'
import { pairOutcomes } from './outcomes.ts'

const task = (id: string): HoldoutTask => ({ id: TaskId.parse(id), instruction: 'do it', data: null, split: 'holdout' })

describe('pairOutcomes', () => {
  const tasks = ['a', 'b', 'c'].map(task)
  const arm = (scores: Record<string, number | null>) =>
    new Map(Object.entries(scores).map(([id, score]) => [TaskId.parse(id), { score }]))

  it('keeps every held-out task: without a result its score is null, not 0 and not gone', () => {
    expect(pairOutcomes(tasks, arm({ a: 1, b: 0, c: null }), arm({ a: 0.5, z: 1 }))).toEqual([
      { task: 'a', baseline: 1, candidate: 0.5 },
      { task: 'b', baseline: 0, candidate: null },
      { task: 'c', baseline: null, candidate: null },
    ])
  })

  it('keeps guards where both arms have them', () => {
    const both = new Map([[TaskId.parse('a'), { score: 1, guards: { tokens: 3 } }]])
    expect(pairOutcomes(tasks.slice(0, 1), both, both)[0]?.guards).toEqual({
      baseline: { tokens: 3 },
      candidate: { tokens: 3 },
    })
    expect(pairOutcomes(tasks.slice(0, 1), both, arm({ a: 1 }))[0]?.guards).toBeUndefined()
  })
})

describe('invariant 6, in types', () => {
  it('a gate takes held-out tasks only', () => {
    expectTypeOf<Parameters<typeof pairOutcomes>[0]>().toEqualTypeOf<readonly HoldoutTask[]>()
    expectTypeOf<HoldoutClaim['tasks']>().toEqualTypeOf<readonly HoldoutTask[]>()
    const seen: Task<'train'> = { ...task('a'), split: 'train' }
    const unknown: Task = task('a')
    // @ts-expect-error a task that was learned from is no evidence
    pairOutcomes([seen], new Map(), new Map())
    // @ts-expect-error nor is one whose split is not known
    pairOutcomes([unknown], new Map(), new Map())
    // @ts-expect-error and it cannot be claimed as a holdout
    void ((): unknown => claimHoldout(undefined as never, { tasks: [seen], alpha: 0.05, run: null, at: 0 }))
  })

  it('an Optimizer takes no held-out task', () => {
    expectTypeOf<HoldoutTask>().not.toExtend<LearnableTask>()
    expectTypeOf<LearnableTask>().not.toExtend<HoldoutTask>()
    expectTypeOf<Parameters<Evaluate<unknown>>[1]>().toEqualTypeOf<readonly LearnableTask[]>()
    const evaluate: Evaluate<unknown> = async () => []
    // @ts-expect-error an Optimizer cannot ask for held-out evidence
    void evaluate(null, [task('a')])
    // @ts-expect-error nor be given a held-out task as one to learn from
    const learnable: LearnableTask = task('a')
    expect(learnable.split).toBe('holdout')
  })
})
