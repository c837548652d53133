import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conformalPValue, counted, type ScoreCounts } from './score-counts.ts'

const of = (...scores: number[]) => scores.reduce<ScoreCounts>(counted, [])

describe('counted', () => {
  it('keeps scores in order with how often each was seen', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -3, max: 3 })), (scores) => {
        const expected = [...new Set(scores)]
          .toSorted((a, b) => a - b)
          .map((score) => [score, scores.filter((other) => other === score).length])
        expect(of(...scores)).toEqual(expected)
      }),
    )
  })
})

describe('conformalPValue', () => {
  it('is the share of larger scores, with ties cut by chance', () => {
    expect(conformalPValue(of(1, 2, 3, 4), 4, 1)).toBe(0.25)
    expect(conformalPValue(of(1, 2, 3, 4), 1, 0.5)).toBe(0.875)
    expect(conformalPValue(of(1, 1, 0, 0), 1, 0.5)).toBe(0.25)
    expect(conformalPValue(of(7), 7, 0.3)).toBe(0.3)
  })

  it('is uniform over all orders of any scores: its mean is a half, exactly', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 9 }), (scores) => {
        const counts = of(...scores)
        const sum = scores.reduce((total, score) => total + conformalPValue(counts, score, 0.5), 0)
        expect(sum / scores.length).toBeCloseTo(0.5, 12)
      }),
    )
  })
})
