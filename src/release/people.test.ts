import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CanaryArm, Origin } from '../core/index.ts'
import { Trust } from '../reward/index.ts'
import { PeopleSeen, trustOf } from './people.ts'

const trust = new Trust(['backend'])
const of = (subject: string | null, key = 'backend'): { readonly origin: Origin } => ({
  origin: { kind: 'traffic', tenant: 'default', key, session: null, agent: null, subject, train: true, servedBy: null },
})
const drawn = (place: number, share: number): { readonly arm: CanaryArm; readonly propensity: number } =>
  place < share ? { arm: 'candidate', propensity: share } : { arm: 'baseline', propensity: 1 - share }

describe('the probability of a session’s arm, given those before it', () => {
  it('is the share for the first of a person, and 1 for the next at that share', () => {
    for (const place of [0.05, 0.5]) {
      const seen = new PeopleSeen(trust, 'salt')
      const { arm, propensity } = drawn(place, 0.1)
      expect(seen.take(of('ann'), arm, propensity)?.propensity).toBeCloseTo(propensity, 12)
      expect(seen.take(of('ann'), arm, propensity)?.propensity).toBe(1)
      expect(seen.take(of('bob'), arm, propensity)?.propensity).toBeCloseTo(propensity, 12)
    }
  })

  it('is a new draw for who had the baseline when the share rises, and none for who had the candidate', () => {
    const seen = new PeopleSeen(trust, 'salt')
    seen.take(of('had'), 'candidate', 0.1)
    seen.take(of('not'), 'baseline', 0.9)
    expect(seen.take(of('had'), 'candidate', 0.5)?.propensity).toBe(1)
    expect(seen.take(of('not'), 'candidate', 0.5)?.propensity).toBeCloseTo(0.4 / 0.9, 12)
  })

  it('is that of a place drawn once, whatever the shares were: over all places it adds up to what was seen', () => {
    // Of people with places all over [0, 1), those with an equal past: the part that gets the candidate is the probability.
    const places = Array.from({ length: 200 }, (_, i) => (i + 0.5) / 200)
    const share = fc.integer({ min: 1, max: 199 }).map((i) => i / 200)
    fc.assert(
      fc.property(fc.array(share, { minLength: 1, maxLength: 4 }), (shares) => {
        const pasts = new Map<string, { chances: number[]; candidates: number }>()
        for (const place of places) {
          const seen = new PeopleSeen(trust, 'salt')
          const last = shares.at(-1) ?? 0
          const past = shares.slice(0, -1).map((one) => {
            const { arm, propensity } = drawn(place, one)
            seen.take(of('ann'), arm, propensity)
            return arm
          })
          const { arm, propensity } = drawn(place, last)
          const given = seen.take(of('ann'), arm, propensity)?.propensity ?? 0
          const alike = pasts.get(past.join()) ?? { chances: [], candidates: 0 }
          alike.chances.push(arm === 'candidate' ? given : 1 - given)
          if (arm === 'candidate') alike.candidates++
          pasts.set(past.join(), alike)
        }
        for (const { chances, candidates } of pasts.values()) {
          const part = candidates / chances.length
          for (const chance of chances) expect(chance).toBeCloseTo(part, 9)
        }
      }),
    )
  })

  it('is the same for who reads what was judged as for who judged it', () => {
    const share = fc.constantFrom(0.01, 0.1, 0.5)
    fc.assert(
      fc.property(fc.array(fc.tuple(share, fc.constantFrom('a', 'b', 'c')), { maxLength: 30 }), (sessions) => {
        const places = new Map([
          ['a', 0.005],
          ['b', 0.05],
          ['c', 0.7],
        ])
        const judging = new PeopleSeen(trust, 'salt')
        const reading = new PeopleSeen(trust, 'salt')
        for (const [at, person] of sessions) {
          const { arm, propensity } = drawn(places.get(person) ?? 0, at)
          const taken = judging.take(of(person), arm, propensity)
          if (taken) reading.resume(['', taken.name], arm, taken.propensity)
          const next = drawn(places.get(person) ?? 0, 0.6)
          const copies = [judging, reading].map((one) => one.take(of(person), next.arm, next.propensity)?.propensity)
          expect(copies[0]).toBeCloseTo(copies[1] ?? Number.NaN, 9)
        }
      }),
    )
  })

  it('knows a person by whichever session key of their key', () => {
    const seen = new PeopleSeen(trust, 'salt')
    expect(seen.take(of('ann', 'backend:s1'), 'candidate', 0.1)?.propensity).toBeCloseTo(0.1, 12)
    expect(seen.take(of('ann', 'backend:s2'), 'candidate', 0.1)?.propensity).toBe(1)
  })

  it('is not touched where nobody is known: without a name, or with one that a key made up', () => {
    const seen = new PeopleSeen(trust, 'salt')
    expect(seen.take(of(null), 'candidate', 0.1)).toBeNull()
    expect(seen.take(of('ann', 'stranger'), 'candidate', 0.1)).toBeNull()
    expect(seen.take({ origin: { kind: 'rollout' } }, 'candidate', 0.1)).toBeNull()
  })
})

it('a canary that began before persons had arms knows nobody', () => {
  expect(trustOf({ gate: { name: 'canary', config: {} } })).toBeNull()
  expect(trustOf({ gate: { name: 'canary', config: { people: null } } })).toBeNull()
  expect(trustOf({ gate: { name: 'canary', config: { people: { trusted: ['k'] } } } })).not.toBeNull()
})
