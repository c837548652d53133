import { describe, expect, it } from 'vitest'
import { runReader } from '../../../test/support/reader.ts'
import {
  type CreditEstimator,
  GroupId,
  type Metrics,
  ParameterName,
  type PolicySample,
  type Trainer,
} from '../../core/index.ts'
import { leaveOneOut } from '../../credit/index.ts'
import { policyGradient } from '../../optimize/weights/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import type { LearnEvent } from '../events.ts'
import { heedPractice } from './gradient.ts'

const sampleOf = (tokens: readonly number[], advantage: number): PolicySample => ({
  group: GroupId.parse('a'),
  tokens,
  advantages: tokens.map((_, t) => (t === 0 ? 0 : advantage)),
  behaviourLogprobs: tokens.map(() => -1),
  sampled: tokens.map((_, t) => t > 0),
  temperature: 1,
  truncated: false,
})

function heeded(samples: readonly PolicySample[], metrics: Metrics): readonly LearnEvent[] {
  const events: LearnEvent[] = []
  heedPractice({ parameter: ParameterName.parse('model'), named: {} }, samples, metrics, (event) => events.push(event))
  return events
}

/** The practised model, whose trainer tells this gradient norm of what it practises; and 1 of what it imitates, or the same. */
const telling = (gradNorm: number | null, imitates = gradNorm) => ({
  service: <S extends { trainer(...how: never[]): Promise<Trainer> }>(service: S): S => ({
    ...service,
    trainer: async (...how: Parameters<S['trainer']>) => {
      const trainer = await service.trainer(...how)
      let told = imitates
      return new Proxy(trainer, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name)
          if (name === 'forwardBackward')
            return (...pass: Parameters<Trainer['forwardBackward']>) => {
              told = pass[1].kind === 'cross_entropy' ? imitates : gradNorm
              return target.forwardBackward(...pass)
            }
          if (name === 'optimStep')
            return async (...adam: Parameters<Trainer['optimStep']>) => ({
              ...(await target.optimStep(...adam)),
              gradNorm: told,
            })
          return typeof member === 'function' ? member.bind(target) : member
        },
      })
    },
  }),
})

describe('a whole update without a gradient', () => {
  const apart = [sampleOf([1, 2, 3], 1), sampleOf([1, 2, 4], -1)]

  it('is an error where its samples pull somewhere', () => {
    const none = { steps: 2, gradNorm: 0 }
    expect(() => heeded(apart, none)).toThrow(expect.objectContaining({ code: 'learn/no-gradient' }))
    expect(() => heeded(apart, { ...none, clippedShare: 0.5 })).not.toThrow()
    expect(() => heeded(apart, { steps: 2 })).not.toThrow()
    expect(() => heeded(apart, { steps: 2, gradNorm: 1e-9 })).not.toThrow()
    expect(() => heeded(apart, { steps: 0, gradNorm: 0 })).not.toThrow()
  })

  it('is none where they cancel, or have no advantage', () => {
    const none = { steps: 1, gradNorm: 0 }
    expect(() => heeded([sampleOf([1, 2], 1), sampleOf([1, 2], -1)], none)).not.toThrow()
    expect(() => heeded([sampleOf([1, 2], 0)], none)).not.toThrow()
  })

  it('is told where no step was taken', () => {
    expect(heeded(apart, { steps: 1, silentSteps: 1, gradNorm: 1 })).toEqual([{ type: 'silent', steps: 1 }])
    expect(heeded(apart, { steps: 1, gradNorm: 1 })).toEqual([])
  })
})

describe('a run', () => {
  it('ends where its trainer has no gradient for what it imitates', async () => {
    const store = await openMemoryStore()
    await expect(runReader(store, telling(0))).rejects.toMatchObject({ code: 'learn/no-gradient' })
    await store.close()
  })

  it('ends where its trainer has no gradient for what it practises', async () => {
    const store = await openMemoryStore()
    const run = runReader(store, telling(0, 1))
    await expect(run).rejects.toMatchObject({
      code: 'learn/no-gradient',
      message: expect.stringContaining('"model"') as string,
    })
    await store.close()
  })

  it('goes on where its trainer does not tell the norm', async () => {
    const store = await openMemoryStore()
    await expect(runReader(store, { ...telling(null), schedule: { updates: 1 } })).resolves.toBeDefined()
    await store.close()
  })

  it('takes no step and tells so where no act has an advantage', async () => {
    const store = await openMemoryStore()
    const usual = leaveOneOut()
    const nothing: CreditEstimator = {
      name: 'nothing',
      async credit(groups, context) {
        const { credits, ...rest } = await usual.credit(groups, context)
        return { ...rest, credits: credits.map((one) => ({ ...one, advantage: 0 })) }
      },
    }
    let practised = 0
    const { of } = await runReader(store, {
      ...telling(1),
      credit: nothing,
      model: { onData: (_, loss) => void (practised += loss === 'cross_entropy' ? 0 : 1) },
      schedule: { updates: 1 },
    })
    expect(of('silent')).toEqual([{ type: 'silent', steps: 1 }])
    expect(of('updated')).toMatchObject([{ metrics: { steps: 0, silentSteps: 1 } }])
    expect(practised).toBe(0)
    await store.close()
  })
})

it('what cancels in the turns that are learned is no lost gradient', () => {
  const practice = policyGradient({ turns: 'first' })
  const sample = (last: number, advantage: number): PolicySample => ({
    ...sampleOf([1, 2, 3, last], advantage),
    sampled: [false, true, false, true],
  })
  const samples = [sample(4, 1), sample(5, -1)]
  const metrics = { steps: 1, gradNorm: 0 }
  expect(heeded(practice.learned?.(samples) ?? samples, metrics)).toEqual([])
  expect(() => heeded(samples, metrics)).toThrow('No gradient reached')
})
