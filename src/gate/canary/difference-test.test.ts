import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { differenceAbove, type Observation } from './difference-test.ts'
import vectors from './difference-test.vectors.json' with { type: 'json' }

const observation = fc.record({
  candidate: fc.boolean(),
  propensity: fc.constantFrom(0.01, 0.1, 0.5, 0.9, 0.99),
  value: fc.option(
    fc.integer({ min: 0, max: 20 }).map((k) => k / 20),
    { freq: 8 },
  ),
})
const history = fc.array(observation, { maxLength: 60 })
const margin = fc.integer({ min: -9, max: 9 }).map((k) => k / 10)

/** Means of 0/1 values under both arms, of the past. */
type World = (past: readonly Observation[]) => { readonly baseline: number; readonly candidate: number }

/** The expectation of the e-value over every course of sessions with 0/1 values, each with its exact probability. */
function expectation(
  world: World,
  propensities: readonly number[],
  at: number,
  past: readonly Observation[] = [],
): number {
  const [propensity, ...later] = propensities
  if (propensity === undefined) return Math.exp(differenceAbove(past, at).now)
  const means = world(past)
  let sum = 0
  for (const candidate of [true, false]) {
    for (const value of [0, 1]) {
      const mean = candidate ? means.candidate : means.baseline
      const probability = (candidate ? propensity : 1 - propensity) * (value === 1 ? mean : 1 - mean)
      if (probability === 0) continue
      sum += probability * expectation(world, later, at, [...past, { candidate, propensity, value }])
    }
  }
  return sum
}

/** Both arms change from session to session, and with what happened. */
const drifting =
  (gain: number): World =>
  (past) => {
    const baseline = 0.2 + 0.07 * past.length + 0.2 * (past.at(-1)?.value ?? 0)
    return { baseline, candidate: baseline + gain }
  }

describe('differenceAbove', () => {
  it.each(vectors)(
    'agrees with exact arithmetic on recorded sessions %#',
    ({ sessions, margin: at, now, most, compared }) => {
      const observations = (sessions as [number, number, number | null][]).map(
        ([candidate, propensity, value]): Observation => ({ candidate: candidate === 1, propensity, value }),
      )
      const evidence = differenceAbove(observations, at)
      expect(evidence.now).toBeCloseTo(now, 7)
      expect(evidence.most).toBeCloseTo(most, 7)
      expect(evidence.sessions).toBe(compared)
    },
  )

  it('is 1 in expectation where the difference is the margin: all courses of six sessions on a ramp', () => {
    const ramp = [0.1, 0.1, 0.5, 0.5, 0.9, 0.3]
    expect(expectation(drifting(0), ramp, 0)).toBeCloseTo(1, 7)
    expect(expectation(drifting(0.1), ramp, 0.1)).toBeCloseTo(1, 7)
    expect(expectation(drifting(-0.2), ramp, -0.2)).toBeCloseTo(1, 7)
  })

  it('is below 1 in expectation where it is less, and above where it is more', () => {
    const half = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    expect(expectation(drifting(-0.1), half, 0)).toBeLessThan(0.99)
    expect(expectation(drifting(0.1), half, 0.3)).toBeLessThan(0.99)
    expect(expectation(drifting(0.2), half, 0)).toBeGreaterThan(1.01)
  })

  it('never loses more than half to one session, so that it stays positive', () => {
    fc.assert(
      fc.property(history, observation, margin, (past, one, at) => {
        const before = differenceAbove(past, at)
        const after = differenceAbove([...past, one], at)
        expect(after.now - before.now).toBeGreaterThanOrEqual(Math.log(0.5) - 1e-6)
        expect(after.most).toBe(Math.max(before.most, after.now))
      }),
    )
  })

  it('never falls when the latest candidate earns more, nor rises when the latest of the baseline does', () => {
    fc.assert(
      fc.property(history, observation, fc.double({ min: 0, max: 1, noNaN: true }), margin, (past, one, more, at) => {
        const value = one.value ?? 0
        const raised = { ...one, value: value + more * (1 - value) }
        const change =
          differenceAbove([...past, raised], at).now - differenceAbove([...past, { ...one, value }], at).now
        expect(one.candidate ? change : -change).toBeGreaterThanOrEqual(-1e-7)
      }),
    )
  })

  it('may fall when an earlier candidate had earned more: later bets were others', () => {
    const sessions = (first: number): Observation[] =>
      [first, 1, 1, 1].map((value) => ({ candidate: true, propensity: 0.5, value }))
    expect(differenceAbove(sessions(1), 0).now).toBeLessThan(differenceAbove(sessions(0.9), 0).now)
  })

  it('leaves out sessions without a value, and those that could have had one arm only', () => {
    fc.assert(
      fc.property(history, margin, fc.boolean(), (past, at, candidate) => {
        const silent: Observation = { candidate, propensity: 0.5, value: null }
        const certain: Observation = { candidate, propensity: candidate ? 1 : 0, value: 1 }
        expect(differenceAbove([silent, ...past, certain, silent], at)).toEqual(differenceAbove(past, at))
      }),
    )
  })
})
