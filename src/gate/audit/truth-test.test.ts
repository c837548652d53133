import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rng } from '../../core/index.ts'
import { type AuditObservation, truthAbove } from './truth-test.ts'

const LIVES = 200
/** 200 draws at 0.05 exceed this with probability below 0.001. */
const BOUND = 21
const SHOWN = -Math.log(0.05)

interface Law {
  readonly effect?: number
  /** What behaviour shows beyond the truth, in the candidate's arm. */
  readonly trick?: number
  /** Share of the sessions whose behaviour is the truth; the rest is chance. */
  readonly honest?: number
  readonly probability?: number
  readonly propensity?: (at: number) => number
  readonly sessions?: number
  readonly features?: boolean
  /** How often a judge says the truth, and how much more often it says "right" of the candidate where it does not. */
  readonly judge?: {
    readonly honest: number
    readonly favours?: number
    readonly silent?: number
    readonly asked: number
  }
}

/** Sessions whose truth is right one time in two, and whose behaviour tells something of it. */
function sessionsOf(
  name: string,
  { effect = 0, trick = 0, honest = 0.7, probability = 0.1, sessions = 2_000, features = true, propensity, judge }: Law,
): AuditObservation[] {
  const stream = rng('truth-test', name)
  const next = () => stream.next()
  return Array.from({ length: sessions }, (_, at) => {
    const share = propensity?.(at) ?? 0.5
    const candidate = next() < share
    const truth = Number(next() < 0.5 + (candidate ? effect : 0))
    const behaviour = next() < honest ? truth : Number(next() < 0.5 + (candidate ? trick : 0))
    const place = next()
    const drawn = place < probability
    const says =
      judge && (next() < judge.honest ? truth : Number(next() < 0.5 + (candidate ? (judge.favours ?? 0) : 0)))
    const word = judge && (next() < (judge.silent ?? 0) ? [0.5, 1] : [says ?? 0, 0])
    // What was not drawn nobody knows.
    return {
      ...(judge && { judge: { probability: judge.asked, word: place < judge.asked ? (word ?? null) : null } }),
      candidate,
      propensity: share,
      probability,
      drawn,
      truth: drawn ? truth : Number.NaN,
      features: features ? [behaviour] : [],
    }
  })
}

const shownIn = (law: Law, lives = LIVES) =>
  Array.from({ length: lives }, (_, life) => truthAbove(sessionsOf(`${JSON.stringify(law)} ${life}`, law), 0)).filter(
    ({ most }) => most >= SHOWN,
  ).length

describe('the test of truth', () => {
  it.each<[string, Law]>([
    ['behaviour that tells the truth', {}],
    ['behaviour that tells nothing', { honest: 0 }],
    ['a candidate that pleases and is no better', { trick: 0.4 }],
    ['a ramp', { propensity: (at) => (at < 1_000 ? 0.1 : 0.5) }],
    ['every session drawn', { probability: 1, sessions: 300 }],
    ['a judge that tells the truth', { judge: { honest: 0.9, asked: 0.5 }, sessions: 800 }],
    ['a judge that tells nothing', { judge: { honest: 0, asked: 1 }, sessions: 800 }],
    ['a judge that favours the candidate', { judge: { honest: 0.4, favours: 0.5, asked: 0.5 }, sessions: 800 }],
    [
      'a judge that is silent half of the time',
      { judge: { honest: 0.8, silent: 0.5, asked: 1 }, features: false, sessions: 800 },
    ],
    [
      'a judge, and every session labelled that it is asked about',
      { judge: { honest: 0.8, asked: 0.1 }, sessions: 800 },
    ],
    [
      'a judge that favours, on a ramp',
      { judge: { honest: 0.4, favours: 0.5, asked: 0.5 }, propensity: (at) => (at < 400 ? 0.1 : 0.5), sessions: 800 },
    ],
  ])('errs at most as often as it may: %s', (_, law) => {
    expect(shownIn(law)).toBeLessThanOrEqual(BOUND)
  })

  it('sees a gain, and with behaviour that tells something in fewer labels', () => {
    const gain = { effect: 0.2, sessions: 5_000, probability: 0.05 }
    expect(shownIn(gain, 50)).toBeGreaterThan(shownIn({ ...gain, features: false }, 50))
    expect(shownIn(gain, 50)).toBeGreaterThan(40)
  })

  it('sees a gain in fewer labels where a judge tells something', () => {
    const gain = { effect: 0.25, sessions: 1_500, probability: 0.06, features: false }
    const judged = { ...gain, judge: { honest: 0.9, asked: 0.5 } }
    expect(shownIn(judged, 50)).toBeGreaterThan(shownIn(gain, 50) + 15)
  })

  it('never lets a session cost more than half of what there is, whatever a judge says', () => {
    const anything = fc.record({
      candidate: fc.boolean(),
      propensity: fc.constantFrom(0.01, 0.5, 0.9),
      probability: fc.constantFrom(0.01, 0.2),
      drawn: fc.boolean(),
      truth: fc.double({ min: 0, max: 1, noNaN: true }),
      features: fc.constantFrom([0], [1]),
      judge: fc.record({ probability: fc.constantFrom(0.2, 1), word: fc.constantFrom([0, 0], [1, 0], [0.5, 1], null) }),
    })
    fc.assert(
      fc.property(
        fc.array(anything, { minLength: 1, maxLength: 60 }),
        fc.double({ min: -0.9, max: 0.9, noNaN: true }),
        (some, margin) => {
          const all = some.map((one) =>
            one.drawn ? { ...one, judge: { ...one.judge, word: one.judge.word ?? [1, 0] } } : one,
          )
          const before = truthAbove(all.slice(0, -1), margin).now
          expect(truthAbove(all, margin).now).toBeGreaterThanOrEqual(before - Math.log(2) - 1e-6)
        },
      ),
    )
  })

  it('shows no gain to what pleases and is worse, whatever behaviour says', () => {
    expect(shownIn({ effect: -0.1, trick: 0.5, honest: 0.3, sessions: 4_000 }, 50)).toBe(0)
  })

  it('never loses all it has: its e-value stays above 0, whatever comes', () => {
    const bit = fc.boolean()
    const unit = fc.double({ min: 0, max: 1, noNaN: true })
    const observation: fc.Arbitrary<AuditObservation> = fc.record({
      candidate: bit,
      propensity: fc.double({ min: 0.01, max: 0.99, noNaN: true }),
      probability: fc.double({ min: 0.01, max: 1, noNaN: true }),
      drawn: bit,
      truth: unit,
      features: fc.tuple(unit, unit),
    })
    fc.assert(
      fc.property(
        fc.array(observation, { maxLength: 60 }),
        fc.double({ min: -0.9, max: 0.9, noNaN: true }),
        (observations, margin) => {
          const { now, most } = truthAbove(observations, margin)
          expect(Number.isFinite(now)).toBe(true)
          expect(now).toBeGreaterThanOrEqual(observations.length * Math.log(0.49))
          expect(most).toBeGreaterThanOrEqual(Math.max(now, 0))
        },
      ),
    )
  })

  it('has an expected factor of at most 1 at every session of equal arms', () => {
    // The exact expectation over arm, draw and truth of one more session, given any past.
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 60 }),
        fc.double({ min: 0.05, max: 0.95, noNaN: true }),
        fc.double({ min: 0.05, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom(0, 1),
        (length, propensity, probability, mean, feature) => {
          const past = sessionsOf(`past ${length}`, { sessions: length, probability: 0.5 })
          const before = truthAbove(past, 0).now
          let expected = 0
          for (const candidate of [true, false]) {
            for (const drawn of [true, false]) {
              for (const truth of [0, 1]) {
                const weight =
                  (candidate ? propensity : 1 - propensity) *
                  (drawn ? probability : 1 - probability) *
                  (truth === 1 ? mean : 1 - mean)
                const one = { candidate, propensity, probability, drawn, truth, features: [feature] }
                expected += weight * Math.exp(truthAbove([...past, one], 0).now - before)
              }
            }
          }
          expect(expected).toBeLessThanOrEqual(1 + 1e-6)
        },
      ),
    )
  })
})
