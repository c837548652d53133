import { describe, expect, it } from 'vitest'
import { rng, type Trainer } from '../../core/index.ts'
import { anchor } from './anchor.ts'
import { imitate } from './imitate.ts'
import { policyGradient } from './policy-gradient.ts'
import { preferences } from './preferences.ts'
import { rehearse } from './rehearse.ts'
import { sequence, weightsPlan } from './sequence.ts'
import { stages } from './stages.ts'

describe('how weights learn', () => {
  it('by a policy gradient alone: it, and whatever can be imitated and preferred beside it', () => {
    const { practice, imitation, preferring, turns } = weightsPlan(policyGradient())
    expect([practice?.name, imitation?.name, preferring?.name]).toEqual(['policy-gradient', 'imitation', 'preferences'])
    expect(turns).toEqual(['practise', 'imitate', 'prefer'])
  })

  it('by a sequence: what it names, in its order', () => {
    const { preferring, turns } = weightsPlan(sequence(imitate(), policyGradient()))
    expect(preferring).toBeNull()
    expect(turns).toEqual(['imitate', 'practise'])
  })

  it('by a sequence that keeps what was learned before: that has no turn', () => {
    const plan = weightsPlan(sequence(anchor({ strength: 1 }), imitate(), rehearse({ share: 0.5, runs: 3 })))
    expect(plan).toMatchObject({ anchoring: { strength: 1, sequences: 64 }, rehearsal: { share: 0.5, runs: 3 } })
    expect(plan.turns).toEqual(['imitate'])
    expect(weightsPlan(policyGradient())).toMatchObject({ anchoring: null, rehearsal: null })
    const staged = stages({ updates: 1, lessons: sequence(imitate(), rehearse()) }, { lessons: policyGradient() })
    expect(weightsPlan(staged)).toMatchObject({ rehearsal: { share: 0.2 }, turns: ['practise', 'imitate', 'prefer'] })
  })

  it('by one lesson that practises nothing: that alone', () => {
    expect(weightsPlan(imitate())).toMatchObject({ practice: null, turns: ['imitate'] })
  })

  it('by nothing, or by two of one sort, is refused', () => {
    const bad = expect.objectContaining({ code: 'optimize/bad-option' })
    expect(() => sequence()).toThrow(bad)
    expect(() => sequence(imitate(), policyGradient(), imitate({ batchSize: 2 }))).toThrow(bad)
    expect(() => sequence(anchor({ strength: 1 }))).toThrow(bad)
    expect(() => sequence(policyGradient(), rehearse()), 'what is rehearsed is imitated').toThrow(bad)
    expect(() => anchor({ strength: 0 })).toThrow(bad)
    expect(() => rehearse({ share: 1 })).toThrow(bad)
  })
})

/** A trainer that takes every step, and the rates of these. */
function rated() {
  const rates: number[] = []
  const trainer = {
    forwardBackward: async () => ({ loss: 0, tokens: { data: 1, computed: 1 }, logprobs: [] }),
    forward: async (data: readonly unknown[]) => data.map(() => [0]),
    optimStep: async ({ learningRate }: { readonly learningRate: number }) => {
      rates.push(learningRate)
      return { gradNorm: 0 }
    },
  } as unknown as Trainer
  return { trainer, rates }
}

const demonstration = { tokens: [1, 2], learn: [false, true] }

describe('settings of a lesson', () => {
  it('come before what the run says, and that before their defaults; imitation is paced', async () => {
    const { trainer, rates } = rated()
    const step = { trainer, demonstrations: [demonstration], rng: rng('test') }
    await imitate({ learningRate: 0.5 }).imitate({ ...step, defaults: { learningRate: 0.25 } })
    await imitate().imitate({ ...step, defaults: { learningRate: 0.25 }, pace: 0.5 })
    await imitate().imitate(step)
    expect(rates).toEqual([0.5, 0.125, 1e-3])
  })

  it('hold for preferences as well; the run says how many passes', async () => {
    const { trainer, rates } = rated()
    const pairs = [{ chosen: demonstration, rejected: demonstration }]
    const step = { trainer, pairs, passes: 2, rng: rng('test'), defaults: { learningRate: 0.25 } }
    await preferences({ learningRate: 0.5 }).prefer(step)
    await preferences().prefer(step)
    expect(rates).toEqual([0.5, 0.5, 0.25, 0.25])
  })
})
