import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rng } from '../../core/index.ts'
import { type Drift, DriftState, type DriftStream, NOTHING_SEEN, watchFor } from './drift-detector.ts'

const stream: DriftStream = {
  name: 'reward',
  direction: 'drop',
  sessionsBetweenFalseAlarms: 300,
  resolution: 0.01,
  seed: 0,
}

/** The first alarm among values, and the state before it or at their end. */
function watch(values: readonly number[], by = stream, from: DriftState = NOTHING_SEEN) {
  let state = from
  for (const [at, value] of values.entries()) {
    const step = watchFor(by, state, value, at)
    if (step.drift) return { drift: step.drift, after: at + 1, state: step.state }
    state = step.state
  }
  return { drift: null, after: values.length, state }
}

const flips = (name: string, n: number, rate: (at: number) => number) => {
  const random = rng('drift-test', name)
  return Array.from({ length: n }, (_, at) => Number(random.next() < rate(at)))
}
const meanOf = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0) / numbers.length

describe('watchFor', () => {
  it('sees a drop, and says from what to what, and since about when', () => {
    const { drift } = watch(flips('drop', 1000, (at) => (at < 400 ? 0.8 : 0.2)))
    const { since, at, reference, recent } = drift as Drift
    expect(at).toBeLessThan(460)
    expect(since).toBeGreaterThan(380)
    expect(since).toBeLessThanOrEqual(420)
    expect(reference.mean).toBeCloseTo(0.8, 1)
    expect(recent.mean).toBeLessThan(0.4)
    expect(reference.sessions + recent.sessions).toBe(at + 1)
  })

  it('does not mind a rise where a drop is watched, and the other way round', () => {
    const rising = flips('rise', 600, (at) => (at < 300 ? 0.2 : 0.9))
    const patient = { ...stream, sessionsBetweenFalseAlarms: 10_000 }
    expect(watch(rising, patient).drift).toBeNull()
    expect(watch(rising, { ...patient, direction: 'rise' }).drift).toMatchObject({ direction: 'rise' })
  })

  it('begins anew after an alarm: what is normal now is the reference', () => {
    const first = watch(flips('anew', 1000, (at) => (at < 400 ? 0.8 : 0.2)))
    expect(first.state).toEqual({ ...NOTHING_SEEN, seen: first.after })
    const patient = { ...stream, sessionsBetweenFalseAlarms: 10_000 }
    expect(
      watch(
        flips('after', 500, () => 0.2),
        patient,
        first.state,
      ).drift,
    ).toBeNull()
  })

  it('has on average the stated number of sessions between false alarms, or more', () => {
    for (const [law, draw] of [
      ['0/1', (u: number) => Number(u < 0.7)],
      ['graded', (u: number) => u * u],
    ] as const) {
      const random = rng('false-alarms', law)
      const lengths = Array.from({ length: 100 }, (_, seed) => {
        const values = Array.from({ length: 750 }, () => draw(random.next()))
        return watch(values, { ...stream, sessionsBetweenFalseAlarms: 150, seed }).after
      })
      // Streams are cut off at five times the stated mean; the standard error of the mean is about a tenth of it.
      expect(meanOf(lengths)).toBeGreaterThan(135)
    }
  })

  it('goes on after a restart as if there had been none', () => {
    const values = fc.array(
      fc.integer({ min: 0, max: 10 }).map((k) => k / 10),
      { maxLength: 60 },
    )
    fc.assert(
      fc.property(values, values, (before, after) => {
        const kept = watch(before).state
        const read = DriftState.parse(JSON.parse(JSON.stringify(kept)))
        expect(watch(after, stream, read)).toEqual(watch(after, stream, kept))
      }),
    )
  })

  it('does not depend on the scale of values: only their order counts', () => {
    const values = flips('scale', 600, (at) => (at < 300 ? 0.7 : 0.3))
    const scaled = watch(values.map((value) => 100 * value - 7))
    expect(scaled.after).toBe(watch(values).after)
  })
})
