import { array, assert as check, constantFrom, dictionary, double, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rng } from '../../core/index.ts'
import { calibrate, type CalibrationSession, factorsIn, PRIOR_STRENGTH } from './calibration.ts'

const range = [-1, 1] as const
const session = (truth: number, signals: Record<string, number> = {}, rest: Partial<CalibrationSession> = {}) =>
  ({ arm: 'baseline', probability: 1, truth, signals, ...rest }) satisfies CalibrationSession

/** Sessions whose signal speaks in half of them; `right`: how often the truth is 1 where it speaks, and where it does not. */
function sessionsOf(pays: number, right: readonly [spoke: number, silent: number], n = 1_000): CalibrationSession[] {
  const stream = rng('calibration', n, pays, ...right)
  return Array.from({ length: n }, () => {
    const spoke = stream.next() < 0.5
    return session(Number(stream.next() < right[spoke ? 0 : 1]), spoke ? { seen: pays } : {})
  })
}
const worthOf = (sessions: readonly CalibrationSession[]) => calibrate(sessions, range).signals[0]

describe('what labels say of a signal', () => {
  it('by hand: means, correlation, and a regression that is held to 1', () => {
    // x: ½ ½ 0 0, y: 1 −1 −1 −1. Centred: Sxx = ¼, Sxy = ½, Syy = 3.
    const worth = worthOf([session(1, { seen: 0.5 }), session(0, { seen: 0.5 }), session(0), session(0)])
    expect(worth).toMatchObject({ labels: 4, present: 2, truthWhenPresent: 0.5, truthWhenAbsent: 0 })
    expect(worth?.correlation).toBeCloseTo(0.5 / Math.sqrt(0.75), 8)
    const estimate = (0.5 + PRIOR_STRENGTH) / (0.25 + PRIOR_STRENGTH)
    expect(worth?.estimate).toBeCloseTo(estimate, 8)
    const residuals = 3 - 2 * estimate * 0.5 + estimate ** 2 * 0.25
    const deviation = Math.sqrt((residuals + PRIOR_STRENGTH) / (4 + PRIOR_STRENGTH) / (0.25 + PRIOR_STRENGTH))
    expect(worth?.estimateInterval[1]).toBeCloseTo(estimate + 1.959964 * deviation, 6)
    // atanh(r) ± 1.96/√(4 − 3)
    expect(worth?.interval?.[0]).toBeCloseTo(Math.tanh(Math.atanh(0.5 / Math.sqrt(0.75)) - 1.959964), 8)
    expect(worth?.factor).toBe(1)
  })

  it('by hand: a draw of one in four stands for four sessions', () => {
    const worth = worthOf([session(1, { seen: 1 }, { probability: 0.25 }), session(0, { seen: 1 }), session(0)])
    expect(worth?.truthWhenPresent).toBeCloseTo(0.8, 9)
  })

  it('by arm and over time', () => {
    const candidate = { arm: 'candidate' } as const
    const worth = worthOf([
      session(1, { seen: 1 }),
      session(0),
      session(0, { seen: 1 }, candidate),
      session(1, {}, candidate),
    ])
    expect(worth?.baseline).toMatchObject({ labels: 2, correlation: 1, truthWhenPresent: 1 })
    expect(worth?.candidate).toMatchObject({ labels: 2, correlation: -1, truthWhenPresent: 0 })
    expect(worth?.earlier).toEqual(worth?.baseline)
    expect(worth?.later).toEqual(worth?.candidate)
  })

  it('nothing is known of nothing', () => {
    expect(calibrate([], range)).toEqual({ labels: 0, signals: [] })
    expect(worthOf([session(1, { seen: 1 })])).toMatchObject({ correlation: null, interval: null, factor: 1 })
  })
})

describe('the factor that learning takes', () => {
  it('stays 1 where the signal is worth what it pays', () => {
    expect(worthOf(sessionsOf(0.5, [0.65, 0.4]))?.factor).toBe(1)
  })

  it('falls where the signal tells nothing, and rises where it tells more than it pays', () => {
    expect(worthOf(sessionsOf(0.5, [0.5, 0.5]))?.factor).toBeLessThan(0.4)
    expect(worthOf(sessionsOf(0.5, [0.95, 0.05]))?.factor).toBeGreaterThan(1.5)
  })

  it('is never turned around', () => {
    expect(worthOf(sessionsOf(1, [0.1, 0.9]))?.factor).toBe(0)
  })

  it('falls for the signal that misleads alone', () => {
    const stream = rng('two')
    const sessions = Array.from({ length: 800 }, () => {
      const [truth, flattered] = [Number(stream.next() < 0.5), stream.next() < 0.5]
      const says = stream.next() < 0.75 ? truth : 1 - truth
      return session(truth, { thumbs: says === 1 ? 0.5 : -0.5, ...(flattered ? { 'implicit/thanks': 1 } : {}) })
    })
    const factors = factorsIn(calibrate(sessions, range))
    expect(Object.keys(factors)).toEqual(['implicit/thanks'])
    expect(factors['implicit/thanks']).toBeLessThan(0.3)
  })

  it('moves for few labels only where they all but rule the constant out', () => {
    // Signals that are worth what they pay: of thirty labels one in twenty or fewer may move a factor.
    const moved = Array.from({ length: 400 }, (_, life) => {
      const stream = rng('few', life)
      const sessions = Array.from({ length: 30 }, () => {
        const spoke = stream.next() < 0.5
        return session(Number(stream.next() < (spoke ? 0.65 : 0.4)), spoke ? { seen: 0.5 } : {})
      })
      return worthOf(sessions)?.factor !== 1
    }).filter(Boolean)
    expect(moved.length).toBeLessThanOrEqual(2)
  })

  it('lies within its bounds, and hangs on neither the scale of the probabilities nor the order', () => {
    const any = record({
      arm: constantFrom('baseline' as const, 'candidate' as const),
      probability: double({ min: 0.01, max: 0.5, noNaN: true }),
      truth: double({ min: 0, max: 1, noNaN: true }),
      signals: dictionary(constantFrom('a', 'b', 'c'), double({ min: -1, max: 1, noNaN: true }), {
        noNullPrototype: true,
      }),
    })
    check(
      property(array(any, { maxLength: 40 }), (sessions) => {
        const { signals, labels } = calibrate(sessions, range)
        expect(labels).toBe(sessions.length)
        const doubled = sessions.map((one) => ({ ...one, probability: 2 * one.probability }))
        const turned = calibrate(sessions.toReversed(), range)
        const scaled = calibrate(doubled, range)
        for (const [i, one] of signals.entries()) {
          expect(one.factor).toBeGreaterThanOrEqual(0)
          expect(one.factor).toBeLessThanOrEqual(2)
          expect(one.baseline.labels + one.candidate.labels).toBe(labels)
          expect(one.earlier.present + one.later.present).toBe(one.present)
          if (one.correlation !== null) expect(Math.abs(one.correlation)).toBeLessThanOrEqual(1)
          expect(scaled.signals[i]?.estimate).toBeCloseTo(one.estimate, 6)
          expect(turned.signals[i]?.estimate).toBeCloseTo(one.estimate, 6)
        }
      }),
    )
  })
})
