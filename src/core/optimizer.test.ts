import { describe, expectTypeOf, it } from 'vitest'
import type { Evaluate, Optimizer, OptimizerContext } from './optimizer.ts'
import type { HoldoutTask, LearnableTask, Split, Task } from './task.ts'

/** Invariant 6 is held by the types: these tests fail in `npm run check:types`. */
describe('a held-out task', () => {
  it('is no learnable task, and a task of unknown split is none either', () => {
    expectTypeOf<HoldoutTask>().not.toExtend<LearnableTask>()
    expectTypeOf<Task>().not.toExtend<LearnableTask>()
    expectTypeOf<Task<'train'>>().toExtend<LearnableTask>()
    expectTypeOf<LearnableTask>().toExtend<Task>()
  })

  it('cannot be what an Optimizer evaluates on', () => {
    expectTypeOf<Parameters<Evaluate>[1]>().toEqualTypeOf<'train' | 'validation'>()
    const evaluate: Evaluate = () => Promise.resolve({ mean: 0, n: 0 })
    // @ts-expect-error a holdout is no split that an Optimizer may see
    void evaluate(new Map(), 'holdout', { episodes: 1 })
    const split = 'train' as Split
    // @ts-expect-error nor is a split that might be one
    void evaluate(new Map(), split, { episodes: 1 })
  })

  it('has no other way into an Optimizer', () => {
    expectTypeOf<keyof OptimizerContext<'weights'>>().toEqualTypeOf<
      'current' | 'gradients' | 'trainer' | 'update' | 'pace' | 'evaluate' | 'sampler' | 'rng'
    >()
    expectTypeOf<Parameters<Optimizer<'text'>['step']>>().toEqualTypeOf<[OptimizerContext<'text'>]>()
  })
})

it('only a weights optimizer gets a trainer', () => {
  expectTypeOf<OptimizerContext<'text'>['trainer']>().toEqualTypeOf<null>()
  expectTypeOf<OptimizerContext<'weights'>['trainer']>().not.toEqualTypeOf<null>()
})
