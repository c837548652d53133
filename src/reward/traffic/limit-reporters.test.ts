import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { talk, told } from '../../../test/support/traffic-session.ts'
import type { Signal, TrajectoryId } from '../../core/index.ts'
import { type LimitedEvidence, limitReporters } from './limit-reporters.ts'
import type { SessionEvidence } from './shares.ts'

const session = (
  id: string,
  subject: string | null,
  signals: readonly Partial<Signal>[] = [],
  key = 'k',
): SessionEvidence => ({
  trajectory: talk(['Why?', 'So.', 'Thanks!'], { id, origin: { key, subject } }),
  signals: signals.map((more) => told('thumbs', true, { trajectory: id as TrajectoryId, ...more })),
})
const many = (n: number, subject: (i: number) => string | null, more: Parameters<typeof session>[2] = [], key = 'k') =>
  Array.from({ length: n }, (_, i) => session(`${key}-${subject(i)}-${i}`, subject(i), more, key))

/** Sessions that a reporter decides, by what it does or says. */
const decidedBy = ({ evidence }: Pick<LimitedEvidence<SessionEvidence>, 'evidence'>, reporter: string) =>
  evidence.filter(({ trajectory: { origin }, signals }) => {
    if (origin.kind !== 'traffic') return false
    const person = origin.subject === null ? origin.key : `${origin.key}:${origin.subject}`
    return person === reporter || signals.some((one) => one.reporter === reporter && reporter !== origin.key)
  }).length

describe('whoever floods', () => {
  const honest = many(100, (i) => `user${i % 20}`)

  it('with sessions of their own keeps their share of what remains', () => {
    const flood = many(1_000, () => 'mallory')
    const limited = limitReporters([...honest, ...flood], { share: 0.1 })
    expect(limited.bound).toBe(0.1)
    expect(decidedBy(limited, 'k:mallory')).toBe(11)
    expect(limited.evidence).toHaveLength(111)
    expect(limited.leftOut).toEqual([
      { reporter: 'k:mallory', sessions: { before: 1_000, after: 11 }, leftOut: { sessions: 989, signals: 0 } },
    ])
  })

  it('with signals about others keeps their share, and the others’ sessions stay', () => {
    const spoken = honest.map(({ trajectory, signals }) => ({
      trajectory,
      signals: [...signals, told('thumbs', false, { trajectory: trajectory.id, reporter: 'm' })],
    }))
    const limited = limitReporters(spoken, { share: 0.1 })
    expect(limited.evidence).toHaveLength(100)
    expect(decidedBy(limited, 'm')).toBe(10)
    expect(limited.leftOut).toEqual([
      { reporter: 'm', sessions: { before: 100, after: 10 }, leftOut: { sessions: 0, signals: 90 } },
    ])
    expect(limitReporters(spoken, { share: 0.1, trusted: ['k', 'm'] }).leftOut).toEqual([])
  })

  it('under made-up names is bounded by the share of their key', () => {
    const others = Array.from({ length: 8 }, (_, i) => many(10, (j) => `u${j}`, [], `k${i}`)).flat()
    const flood = many(500, (i) => `sybil${i}`, [], 'm')
    const of = (limits: Parameters<typeof limitReporters>[1]) => {
      const { evidence } = limitReporters([...others, ...flood], limits)
      const theirs = evidence.filter(({ trajectory: { origin } }) => origin.kind === 'traffic' && origin.key === 'm')
      return theirs.length / evidence.length
    }
    expect(of({ trusted: ['m'] })).toBeGreaterThan(0.8)
    expect(of({})).toBeLessThanOrEqual(2 / 9)
    expect(of({ shareOfKey: 0.25 })).toBeLessThanOrEqual(0.25)
    expect(limitReporters([...others, ...flood]).leftOut.map(({ reporter }) => reporter)).toEqual(['m'])
  })
})

describe('sessions that name nobody', () => {
  const named = many(100, (i) => `user${i % 20}`)

  it('are all their key’s, where it is trusted: the share of one person does not bound them', () => {
    const evidence = [...named, ...many(300, () => null, [{ reporter: 'web' }], 'web')]
    const limits = { share: 0.1, trusted: ['k', 'web'] }
    const limited = limitReporters(evidence, limits)
    expect(limited).toMatchObject({ evidence, leftOut: [], bound: 0.1 })
    const flooded = limitReporters([...evidence, ...many(1_000, () => 'mallory')], limits)
    expect(decidedBy(flooded, 'k:mallory')).toBe(44)
    expect(flooded.evidence).toHaveLength(444)
  })

  it('are bounded by the share of their key, with those of whom it names', () => {
    const others = Array.from({ length: 8 }, (_, i) => many(10, (j) => `u${j}`, [], `k${i}`)).flat()
    const flood = many(500, (i) => (i % 2 === 0 ? null : `sybil${i}`), [], 'm')
    const { evidence } = limitReporters([...others, ...flood], { shareOfKey: 0.25 })
    const theirs = evidence.filter(({ trajectory: { origin } }) => origin.kind === 'traffic' && origin.key === 'm')
    expect(evidence.length - theirs.length).toBe(80)
    expect(theirs.length / evidence.length).toBeLessThanOrEqual(0.25)
  })

  it('leave their key its share of what others’ sessions are told', () => {
    const spoken = named.map(({ trajectory }) => ({
      trajectory,
      signals: [told('thumbs', false, { trajectory: trajectory.id, reporter: 'web' })],
    }))
    const limits = { share: 0.1, shareOfKey: 0.8 }
    const limited = limitReporters([...spoken, ...many(300, () => null, [], 'web')], limits)
    const heard = limited.evidence.filter(({ signals }) => signals.length > 0)
    expect([limited.evidence.length, heard.length]).toEqual([400, 20])
    expect(limited.leftOut).toMatchObject([{ reporter: 'web', leftOut: { sessions: 0, signals: 80 } }])
  })
})

describe('whoever does not', () => {
  it('loses nothing', () => {
    const evidence = many(200, (i) => `user${i % 40}`, [{ reporter: 'k' }, { reporter: 'ratchet', source: 'judge' }])
    const limited = limitReporters(evidence)
    expect(limited.evidence).toEqual(evidence)
    expect(limited.leftOut).toEqual([])
  })

  it('a key that is alone, and names nobody, is everybody', () => {
    const evidence = many(50, () => null, [{ reporter: 'k' }])
    expect(limitReporters(evidence)).toMatchObject({ evidence, leftOut: [], bound: 1 })
    expect(limitReporters([])).toMatchObject({ evidence: [], leftOut: [] })
  })

  it('few people count for up to twice an equal share', () => {
    const evidence = [...many(10, () => 'a'), ...many(10, () => 'b'), ...many(10, () => 'c'), ...many(100, () => 'd')]
    const limited = limitReporters(evidence)
    expect(limited.bound).toBe(0.5)
    expect(decidedBy(limited, 'k:d')).toBe(30)
  })
})

it('draws by ids alone: order and words do not matter, the seed does', () => {
  const evidence = [...many(30, (i) => `user${i}`), ...many(100, () => 'mallory')]
  const idsOf = (limited: LimitedEvidence<SessionEvidence>) =>
    limited.evidence.map(({ trajectory }) => trajectory.id).toSorted()
  const before = idsOf(limitReporters(evidence))
  expect(idsOf(limitReporters(evidence.toReversed()))).toEqual(before)
  expect(idsOf(limitReporters(evidence, {}, 'other'))).not.toEqual(before)
})

it('a saboteur moves the mean by at most the bound, whatever they do and whoever else is there', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'm'] as const
  const row = fc.record({
    subject: fc.constantFrom(...names, null),
    reporters: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 3 }),
    honest: fc.double({ min: -1, max: 1, noNaN: true }),
  })
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: 60 }),
      fc.double({ min: 0.05, max: 1, noNaN: true }),
      fc.constantFrom(0.3, 1),
      fc.nat(),
      (rows, share, shareOfKey, seed) => {
        const worth = new Map<string, number>()
        const evidence = rows.map(({ subject, reporters, honest }, i) => {
          worth.set(`s${i}`, honest)
          return session(
            `s${i}`,
            subject,
            reporters.map((name) => ({ reporter: `k:${name}` })),
          )
        })
        const limited = limitReporters(evidence, { share, shareOfKey }, seed)
        const total = limited.evidence.length
        expect(total).toBeGreaterThan(0)
        for (const name of names) {
          const decided = new Set(
            limited.evidence
              .filter((one) => decidedBy({ evidence: [one] }, `k:${name}`) === 1)
              .map(({ trajectory }) => trajectory.id),
          )
          expect(decided.size).toBeLessThanOrEqual(limited.bound * total + 1e-9)
          const mean = (sabotaged: number | null) =>
            limited.evidence.reduce((sum, { trajectory: { id } }) => {
              const value = sabotaged !== null && decided.has(id) ? sabotaged : (worth.get(id) ?? 0)
              return sum + value / total
            }, 0)
          for (const worst of [-1, 1]) {
            expect(Math.abs(mean(worst) - mean(null))).toBeLessThanOrEqual(2 * limited.bound + 1e-9)
          }
        }
        const counted = limited.leftOut.reduce((sum, { leftOut }) => sum + leftOut.sessions, 0)
        expect(counted).toBe(evidence.length - total)
      },
    ),
    { numRuns: 150 },
  )
})

it('refuses limits that are none', () => {
  expect(() => limitReporters([], { share: 0 })).toThrow('The limits of reporters')
})
