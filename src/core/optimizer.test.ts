import { describe, expectTypeOf, it } from 'vitest'
import type { Evaluate, Optimizer, Seat, WeightsOptimizer, WeightsStep } from './optimizer.ts'
import type { HoldoutTask, LearnableTask, Task } from './task.ts'

/** Invariant 6 is held by the types: these tests fail in `npm run check:types`. */
describe('a held-out task', () => {
  it('is no learnable task, and a task of unknown split is none either', () => {
    expectTypeOf<HoldoutTask>().not.toExtend<LearnableTask>()
    expectTypeOf<Task>().not.toExtend<LearnableTask>()
    expectTypeOf<Task<'train'>>().toExtend<LearnableTask>()
    expectTypeOf<LearnableTask>().toExtend<Task>()
  })

  it('cannot be what an Optimizer evaluates on', () => {
    expectTypeOf<Parameters<Evaluate<unknown>>[1]>().toEqualTypeOf<readonly LearnableTask[]>()
    const evaluate: Evaluate<unknown> = () => Promise.resolve([])
    const held = [] as HoldoutTask[]
    // @ts-expect-error a held-out task is none that an Optimizer may see
    void evaluate(null, held)
    const some = [] as Task[]
    // @ts-expect-error nor is a task that might be one
    void evaluate(null, some)
  })

  it('has no other way into an Optimizer', () => {
    expectTypeOf<keyof WeightsStep>().toEqualTypeOf<
      'current' | 'gradients' | 'trainer' | 'update' | 'pace' | 'sampler' | 'rng'
    >()
    expectTypeOf<Parameters<WeightsOptimizer['step']>>().toEqualTypeOf<[WeightsStep]>()
    expectTypeOf<keyof Seat<unknown>>().toEqualTypeOf<
      'parameter' | 'version' | 'value' | 'rng' | 'evaluate' | 'tasks' | 'leaks'
    >()
    expectTypeOf<NonNullable<Seat<unknown>['tasks']>>().toEqualTypeOf<readonly LearnableTask[]>()
    expectTypeOf<ReturnType<NonNullable<Seat<unknown>['leaks']>>>().toEqualTypeOf<boolean>()
    expectTypeOf<Parameters<Optimizer['open']>[0]>().toEqualTypeOf<Seat<unknown>>()
  })
})
