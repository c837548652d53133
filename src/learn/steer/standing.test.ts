import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Attempted, deadFamilies, isDead, overallRate, rateOf, recorded, type Standing } from './standing.ts'

const attempts = (family: string, count: number, successes: number): readonly Attempted[] =>
  Array.from({ length: count }, (_, i) => ({ task: `${family}${i}`, family, success: i < successes }))

const batches = fc.array(
  fc.record({
    task: fc.string({ maxLength: 2 }),
    family: fc.oneof(fc.constantFrom('a', 'b', 'constructor', '__proto__', ''), fc.string({ maxLength: 3 })),
    success: fc.boolean(),
  }),
  { maxLength: 30 },
)

describe('recorded', () => {
  it('adds a batch, and leaves 0.6 of what was before it', () => {
    const first = recorded({}, [...attempts('a', 8, 2), ...attempts('b', 4, 4)])
    expect(first).toEqual({ a: { attempts: 8, successes: 2 }, b: { attempts: 4, successes: 4 } })
    const second = recorded(first, attempts('a', 4, 3))
    expect(second['a']?.attempts).toBeCloseTo(8.8, 12)
    expect(second['a']?.successes).toBeCloseTo(4.2, 12)
    expect(second['b'], 'a family that the batch does not touch').toEqual({ attempts: 4, successes: 4 })
  })

  it('does not depend on the order of the attempts', () => {
    fc.assert(
      fc.property(batches, batches, fc.nat(), (before, batch, by) => {
        const turned = [
          ...batch.slice(by % (batch.length + 1)),
          ...batch.slice(0, by % (batch.length + 1)),
        ].toReversed()
        const standing = recorded({}, before)
        expect(recorded(standing, turned)).toEqual(recorded(standing, batch))
      }),
    )
  })

  it('counts every attempt, whatever its family is called', () => {
    fc.assert(
      fc.property(batches, (batch) => {
        const tallies = Object.values(recorded({}, batch))
        expect(tallies.reduce((sum, tally) => sum + tally.attempts, 0)).toBe(batch.length)
        expect(tallies.reduce((sum, tally) => sum + tally.successes, 0)).toBe(batch.filter((one) => one.success).length)
      }),
    )
  })
})

describe('rateOf', () => {
  it("is Laplace's", () => {
    expect(rateOf({ a: { attempts: 9, successes: 2 } }, 'a')).toBe(0.25)
    expect(rateOf({ a: { attempts: 9, successes: 0 } }, 'a')).toBe(0.05)
    expect(rateOf({}, 'a')).toBe(0.5)
  })

  it('is a half for a family that was never tried, whatever it is called', () => {
    for (const family of ['constructor', '__proto__', 'toString', '']) expect(rateOf({}, family)).toBe(0.5)
  })

  it('is strictly between 0 and 1', () => {
    fc.assert(
      fc.property(fc.array(batches, { maxLength: 4 }), (many) => {
        const standing = many.reduce<Standing>((before, batch) => recorded(before, batch), {})
        for (const family of [...many.flat().map((one) => one.family), 'never']) {
          expect(rateOf(standing, family)).toBeGreaterThan(0)
          expect(rateOf(standing, family)).toBeLessThan(1)
        }
      }),
    )
  })
})

it('a family is dead after ten attempts with hardly a success', () => {
  const standing = {
    dead: { attempts: 10, successes: 0 },
    almost: { attempts: 100, successes: 3.9 },
    alive: { attempts: 100, successes: 4 },
    new: { attempts: 9.9, successes: 0 },
  }
  expect(deadFamilies(standing)).toEqual(['almost', 'dead'])
  expect(isDead(standing, 'unknown')).toBe(false)
  expect(isDead(standing, 'constructor')).toBe(false)
})

it('the overall rate weighs families by their tasks, and leaves out those that were not tried', () => {
  const standing = { a: { attempts: 10, successes: 5 }, b: { attempts: 2, successes: 2 } }
  const sizes = new Map([
    ['a', 30],
    ['b', 10],
    ['c', 1000],
    ['constructor', 1000],
  ])
  expect(overallRate(standing, sizes)).toBeCloseTo((30 * 0.5 + 10 * 1) / 40, 12)
  expect(overallRate({}, sizes)).toBe(0)
})
