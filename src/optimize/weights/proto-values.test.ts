import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ActedEpisode } from './auxiliary.ts'
import { protoValues, type ProtoValuesOptions } from './proto-values.ts'

/** Tokens that were read (above 0) and acted (below 0). */
const episode = (tokens: readonly number[], earned?: number): ActedEpisode => ({
  tokens: tokens.map(Math.abs),
  acted: tokens.map((token) => token < 0),
  ...(earned !== undefined && { earned }),
})

const targetsOf = (options: ProtoValuesOptions, given: ActedEpisode) => {
  const targets = protoValues(options).targets(given)
  if (targets === null) throw new Error('no targets')
  return targets
}

/** ±1 of each set for one observation: the value of a turn that it follows, at a discount of 0. */
const sets = (options: ProtoValuesOptions, observed: readonly number[]) =>
  targetsOf({ ...options, discount: 0 }, episode([1, -2, ...observed]))[1]!

// Two turns of two tokens and one, then a third that nothing follows.
const three = [7, -8, -9, 20, 21, -8, 30, -5]

describe('values of random sets', () => {
  it.each(['similar', 'equal'] as const)('are discounted sums of what is observed later (%s)', (kind) => {
    const options = { outputs: 5, seed: 3, sets: kind }
    const [first, second] = [sets(options, [20, 21]), sets(options, [30])]
    for (const one of [...first, ...second]) expect(Math.abs(one)).toBe(1)
    const targets = targetsOf({ ...options, discount: 0.6 }, episode(three))
    // √(1 − 0.36) = 0.8.
    const last = second.map((c) => 0.8 * c)
    const before = first.map((c, j) => 0.8 * c + 0.6 * last[j]!)
    const near = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 12))
    expect(targets).toEqual([[], near(before), near(before), [], [], near(last), [], [0, 0, 0, 0, 0]])
  })

  it('and of what was earned, discounted by the turns that are left', () => {
    const options = { outputs: 2, discount: 0.5, returns: true }
    const targets = targetsOf(options, episode(three, 8))
    expect(targets.map((values) => values[2])).toEqual([undefined, 2, 2, undefined, undefined, 4, undefined, 8])
    expect(protoValues(options).outputs).toBe(3)
    // Nobody knows what it earned: nothing is predicted of it.
    expect(protoValues(options).targets(episode(three))).toBeNull()
    expect(protoValues({ outputs: 2 }).targets(episode(three))).not.toBeNull()
  })

  it('of an episode in which nobody acts are none', () => {
    expect(targetsOf({}, episode([1, 2]))).toEqual([[], []])
    expect(targetsOf({}, episode([]))).toEqual([])
  })

  it('satisfy the Bellman equation exactly, stay in their bounds, and are the same each time', () => {
    const discount = 0.9
    const tokens = fc.array(fc.integer({ min: -9, max: 9 }), { maxLength: 40 })
    fc.assert(
      fc.property(tokens, fc.nat(100), fc.constantFrom('similar', 'equal'), (drawn, seed, kind) => {
        const options = { outputs: 4, seed, sets: kind } as const
        const given = episode(drawn.map((token) => token || 1))
        const targets = targetsOf({ ...options, discount }, given)
        expect(targetsOf({ ...options, discount }, given)).toEqual(targets)
        const bound = Math.sqrt((1 + discount) / (1 - discount))
        const turns = given.acted.flatMap((acted, t) => (acted && !given.acted[t - 1] ? [t] : []))
        for (const [i, t] of turns.entries()) {
          const next = turns[i + 1]
          const end = given.acted.indexOf(false, t)
          const observed = end < 0 ? [] : given.tokens.slice(end, next)
          for (const [j, value] of targets[t]!.entries()) {
            expect(Math.abs(value)).toBeLessThanOrEqual(bound)
            const now = observed.length === 0 ? 0 : Math.sqrt(1 - discount ** 2) * sets(options, observed)[j]!
            expect(value).toBeCloseTo(now + discount * (next === undefined ? 0 : targets[next]![j]!), 12)
          }
        }
      }),
      { numRuns: 60 },
    )
  })
})

describe('sets', () => {
  const many = { outputs: 400 }
  const agree = (a: readonly number[], b: readonly number[]) => a.filter((value, j) => value === b[j]).length / a.length
  const long = Array.from({ length: 20 }, (_, i) => 100 + i)

  it('that are similar hold much the same where most tokens are, whatever their order and number', () => {
    const here = sets(many, long)
    expect(agree(here, sets(many, [...long.toReversed(), 100]))).toBe(1)
    // The angle between sets of 20 tokens with 19 in common is acos(19 / 20): they part in 10 % of hyperplanes.
    expect(agree(here, sets(many, [...long.slice(1), 200]))).toBeGreaterThan(0.84)
    expect(agree(here, sets(many, [...long.slice(1), 200]))).toBeLessThan(0.96)
    expect(
      Math.abs(
        agree(
          here,
          sets(
            many,
            long.map((token) => token + 500),
          ),
        ) - 0.5,
      ),
    ).toBeLessThan(0.08)
  })

  it('that are equal part what differs at all', () => {
    const exact = { ...many, sets: 'equal' } as const
    const here = sets(exact, long)
    expect(agree(here, sets(exact, [...long]))).toBe(1)
    for (const other of [long.toReversed(), [...long.slice(1), 200]]) {
      expect(Math.abs(agree(here, sets(exact, other)) - 0.5)).toBeLessThan(0.08)
    }
  })

  it('hang on the seed, and hold half of what there is', () => {
    const here = sets(many, long)
    expect(Math.abs(agree(here, sets({ ...many, seed: 1 }, long)) - 0.5)).toBeLessThan(0.08)
    expect(Math.abs(here.filter((value) => value > 0).length / 400 - 0.5)).toBeLessThan(0.08)
  })
})

it.each([
  { outputs: 0 },
  { outputs: 1.5 },
  { discount: 1 },
  { discount: -0.1 },
  { discount: Number.NaN },
  { weight: -1 },
  { weight: Number.POSITIVE_INFINITY },
])('refuses %o', (options) => {
  expect(() => protoValues(options)).toThrow(expect.objectContaining({ code: 'optimize/bad-option' }))
})
