import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextTemperature } from './temperature.ts'

const bounds = { lowest: 0.7, highest: 1.3, wanted: 8, overall: 0.2 }

describe('the temperature of the next batch', () => {
  it('rises where too few groups differ, up to its bound', () => {
    expect(nextTemperature({ ...bounds, temperature: 0.7, informative: 2 })).toBeCloseTo(0.805, 12)
    expect(nextTemperature({ ...bounds, temperature: 1.25, informative: 0 })).toBe(1.3)
  })

  it('stays where as many differ as are wanted, and falls where half as many again do', () => {
    expect(nextTemperature({ ...bounds, temperature: 1, informative: 8 })).toBe(1)
    expect(nextTemperature({ ...bounds, temperature: 1, informative: 12 })).toBeCloseTo(1 / 1.15, 12)
    expect(nextTemperature({ ...bounds, temperature: 0.7, informative: 30 })).toBe(0.7)
  })

  it('does not rise where groups are alike because nearly all attempts succeed', () => {
    expect(nextTemperature({ ...bounds, temperature: 0.7, informative: 0, overall: 0.95 })).toBe(0.7)
    expect(nextTemperature({ ...bounds, temperature: 1.2, informative: 0, overall: 0.95 })).toBeLessThan(1.2)
  })

  it('does not move where its bounds are one', () => {
    const informative = fc.integer({ min: 0, max: 64 })
    fc.assert(
      fc.property(informative, fc.double({ min: 0, max: 1, noNaN: true }), (groups, overall) => {
        const pinned = { lowest: 0.7, highest: 0.7, wanted: 8, temperature: 0.7, informative: groups, overall }
        expect(nextTemperature(pinned)).toBe(0.7)
      }),
    )
  })
})
