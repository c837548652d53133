import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GroupId, type PolicySample } from '../../core/index.ts'
import { count, demonstrationDatum, policyDatum } from './datum.ts'

const sample: PolicySample = {
  group: GroupId.parse('g'),
  tokens: [11, 12, 13, 14, 15],
  advantages: [0, 0, 2, 2, 0],
  behaviourLogprobs: [0, 0, -0.5, -0.25, 0],
  sampled: [false, false, true, true, false],
  temperature: 1,
  truncated: false,
}

describe('policyDatum', () => {
  it('moves what belongs to a token to the position that predicts it', () => {
    expect(policyDatum(sample, 0.5)).toEqual({
      input: [11, 12, 13, 14],
      target: [12, 13, 14, 15],
      logprobs: [0, -0.5, -0.25, 0],
      advantages: [0, 1, 1, 0],
    })
  })

  it('keeps each target with its own advantage and log-probability, and trains nothing else', () => {
    const token = fc.record({ id: fc.nat(99), sampled: fc.boolean(), lp: fc.integer({ min: -9, max: -1 }) })
    fc.assert(
      fc.property(fc.array(token, { minLength: 2 }), (tokens) => {
        const datum = policyDatum(
          {
            ...sample,
            tokens: tokens.map(({ id }) => id),
            sampled: tokens.map(({ sampled }) => sampled),
            advantages: tokens.map(({ sampled, id }) => (sampled ? id + 1 : 0)),
            behaviourLogprobs: tokens.map(({ sampled, lp }) => (sampled ? lp : 0)),
          },
          1,
        )
        expect(datum.input).toEqual(tokens.slice(0, -1).map(({ id }) => id))
        tokens.slice(1).forEach(({ id, sampled, lp }, t) => {
          expect(datum.target[t]).toBe(id)
          expect(datum.advantages?.[t]).toBe(sampled ? id + 1 : 0)
          expect(datum.logprobs?.[t]).toBe(sampled ? lp : 0)
        })
        for (const values of [datum.target, datum.advantages, datum.logprobs]) {
          expect(values?.length).toBe(datum.input.length)
        }
      }),
    )
  })
})

it('demonstrationDatum weighs the acts, shifted, and nothing of the context', () => {
  expect(demonstrationDatum({ tokens: [1, 2, 3, 4], learn: [true, false, true, true] }, 0.25)).toEqual({
    input: [1, 2, 3],
    target: [2, 3, 4],
    weights: [0, 0.25, 0.25],
  })
})

it('count counts what is set', () => {
  expect([count([]), count([false]), count([true, false, true])]).toEqual([0, 0, 2])
})
