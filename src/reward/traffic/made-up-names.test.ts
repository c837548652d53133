import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { talk, told } from '../../../test/support/traffic-session.ts'
import { limitReporters } from './limit-reporters.ts'
import { ReporterShares } from './reporter-shares.ts'
import { shareOut } from './share-out.ts'
import type { ReporterLimits, SessionEvidence } from './shares.ts'
import { trafficRubric } from './traffic-rubric.ts'

/** Keys of people who lie about nothing, beside the one that makes up names. */
const honestKeys = [1, 2, 4, 25]
const attacker = 'm'
/** What one of so many keys may decide by default: twice an equal share, but of two no more than a half, of more 2/5. */
const shareOfOne = (keys: number) => Math.max(0.05, Math.min(keys === 2 ? 1 / 2 : 2 / 5, 2 / keys))
const shareBeside = (honest: number) => shareOfOne(honest + 1)

interface Row {
  readonly key: string
  readonly subject: string | null
  /** Whom the attacker lets speak of it. */
  readonly speakers: readonly string[]
}
const evidenceOf = ({ key, subject, speakers }: Row, i: number): SessionEvidence => ({
  trajectory: talk(['Why?', 'So.'], { id: `s${i}`, origin: { key, subject } }),
  signals: speakers.map((name) => told('thumbs', false, { reporter: `${attacker}:${name}` })),
})

/** Sessions of some honest keys, and a flood of the attacker's under as many names as it likes. */
const flooded = (honest: number) =>
  fc
    .record({
      own: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: honest, maxLength: honest }),
      names: fc.integer({ min: 1, max: 80 }),
      flood: fc.integer({ min: 0, max: 120 }),
      spoken: fc.array(fc.nat(4), { maxLength: 60 }),
      seed: fc.integer(),
    })
    .chain(({ own, names, flood, spoken, seed }) => {
      const rows: Row[] = [
        ...own.flatMap((n, key) => Array.from({ length: n }, (_, i) => ({ key: `k${key}`, subject: `user${i}` }))),
        ...Array.from({ length: flood }, (_, i) => ({
          key: attacker,
          subject: (i + seed) % 7 === 0 ? null : `made-up-${i % names}`,
        })),
      ].map((row, i) => ({ ...row, speakers: Array.from({ length: spoken[i] ?? 0 }, (_, n) => `made-up-${i}-${n}`) }))
      return fc.shuffledSubarray(rows, { minLength: rows.length })
    })

const ownedBy = (key: string, { trajectory: { origin } }: SessionEvidence) =>
  origin.kind === 'traffic' && origin.key === key
const isDecided = (one: SessionEvidence) => ownedBy(attacker, one) || one.signals.length > 0

describe.each(honestKeys)('one key with any number of made-up names, beside %i that are honest', (honest) => {
  const bound = shareBeside(honest)

  it('decides its share of a batch at most', () => {
    fc.assert(
      fc.property(flooded(honest), (rows) => {
        const { evidence } = limitReporters(rows.map(evidenceOf))
        expect(evidence.filter(isDecided).length).toBeLessThanOrEqual(bound * evidence.length + 1e-9)
        expect(evidence.filter((one) => !ownedBy(attacker, one)).length).toBeGreaterThan(0)
      }),
      { numRuns: 60 },
    )
  })

  it('brings its share of what is learned at most', () => {
    fc.assert(
      fc.property(flooded(honest), fc.integer({ min: 1, max: 9 }), (rows, each) => {
        const contributions = rows.map((row, i) => ({
          session: evidenceOf({ ...row, speakers: [] }, i),
          amount: row.key === attacker ? each : 1,
        }))
        const { amounts } = shareOut(contributions)
        const all = amounts.reduce((sum, n) => sum + n, 0)
        const theirs = amounts.filter((_, i) => rows[i]?.key === attacker).reduce((sum, n) => sum + n, 0)
        expect(theirs).toBeLessThanOrEqual(bound * all + 1e-9)
        expect(all).toBeGreaterThan(0)
      }),
      { numRuns: 60 },
    )
  })

  /** How many it decides where no others were taken yet does not hold: it is everybody then. */
  it('decides its share of a stream at most, from when another key has a session', () => {
    fc.assert(
      fc.property(flooded(honest), (rows) => {
        const shares = new ReporterShares()
        const keys = new Set<string>()
        let [decided, all] = [0, 0]
        for (const [i, row] of rows.entries()) {
          const heard = shares.take(evidenceOf(row, i))
          if (!heard) continue
          const theirs = row.key === attacker || heard.signals.length > 0
          const others = [...keys].filter((key) => key !== attacker).length
          if (theirs && others > 0) {
            const most = others >= honest ? bound : 1 / 2
            expect(decided).toBeLessThan(Math.max(5, most * all + 0.5) + 1e-9)
          }
          if (theirs) decided += 1
          all += 1
          keys.add(row.key)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('decides the share that is set, and no more, where the honest are trusted', () => {
    const trusted = Array.from({ length: honest }, (_, i) => `k${i}`)
    const limits: Partial<ReporterLimits> = { shareOfKey: 0.1, trusted }
    fc.assert(
      fc.property(flooded(honest), (rows) => {
        const sessions = rows.map(evidenceOf)
        const { evidence } = limitReporters(sessions, { ...limits, share: 1 })
        expect(evidence.filter(isDecided).length).toBeLessThanOrEqual(0.1 * evidence.length + 1e-9)
        const own = (some: readonly SessionEvidence[]) => some.filter((one) => !ownedBy(attacker, one)).length
        expect(own(evidence)).toBe(own(sessions))
        const shares = new ReporterShares({ ...limits, share: 1 })
        const taken = sessions.flatMap((one) => {
          const heard = shares.take(one)
          return heard ? [{ ...one, signals: heard.signals }] : []
        })
        expect(taken.filter(isDecided).length).toBeLessThanOrEqual(Math.max(5, 0.1 * taken.length + 1))
      }),
      { numRuns: 60 },
    )
  })
})

it.each(honestKeys)('two keys that flood decide two shares at most, beside %i that are honest', (honest) => {
  const rows = [
    ...Array.from({ length: honest * 12 }, (_, i) => ({ key: `k${i % honest}`, subject: `user${i}`, speakers: [] })),
    ...Array.from({ length: 1_200 }, (_, i) => ({ key: `${attacker}${i % 2}`, subject: `made-up-${i}`, speakers: [] })),
  ]
  const sessions = rows.map(evidenceOf)
  const bound = 2 * shareOfOne(honest + 2)
  const theirs = (some: readonly SessionEvidence[]) =>
    some.filter((one) => ownedBy(`${attacker}0`, one) || ownedBy(`${attacker}1`, one)).length
  const { evidence } = limitReporters(sessions)
  expect(theirs(evidence)).toBeLessThanOrEqual(bound * evidence.length)
  expect(theirs(evidence)).toBeLessThan(0.81 * evidence.length)
  const shares = new ReporterShares()
  const taken = sessions.filter((one) => shares.take(one) !== null)
  expect(theirs(taken)).toBeLessThanOrEqual(Math.max(10, bound * taken.length + 2))
  expect(taken.length - theirs(taken)).toBe(honest * 12)
})

it.each(honestKeys)('%i honest keys, by turns, are all heard', (honest) => {
  const shares = new ReporterShares()
  const rows = Array.from({ length: 100 }, (_, i) => ({ key: `k${i % honest}`, subject: `user${i}`, speakers: [] }))
  expect(rows.map(evidenceOf).filter((one) => shares.take(one) !== null)).toHaveLength(100)
})

it('a key without sessions of its own that speaks under many names of those of a single key has its share of them', () => {
  const rows = Array.from({ length: 100 }, (_, i) => ({
    key: 'k',
    subject: `user${i % 30}`,
    speakers: [`made-up-${i}`],
  }))
  const { evidence } = limitReporters(rows.map(evidenceOf))
  expect([evidence.length, evidence.filter(isDecided).length]).toEqual([100, 5])
  const shares = new ReporterShares()
  const heard = rows.map(evidenceOf).filter((one) => (shares.take(one)?.signals.length ?? 0) > 0)
  expect(heard).toHaveLength(5)
})

describe('what is said of a session under many names', () => {
  const said = (reporter: string, value: boolean) => told('thumbs', value, { reporter })
  const flood = Array.from({ length: 50 }, (_, i) => said(`${attacker}:made-up-${i}`, false))
  const scored = async (signals: readonly ReturnType<typeof said>[], trusted: readonly string[] = []) => {
    const { parts } = await trafficRubric({}, { trusted }).score(talk(['Why?', 'So.'], { id: 's1' }), signals, 60_000)
    return parts['thumbs']
  }

  it('counts as said by one, beside what another key says', async () => {
    expect(await scored([said('k', true), ...flood])).toBe(0)
    expect(await scored([said('k:ada', true), said('k:bob', false), ...flood])).toBe(-0.5)
    expect(await scored([said('k', true), ...flood.slice(0, 1)])).toBe(0)
  })

  it('counts for each where their key is trusted', async () => {
    const people = [said('k:ada', true), said('k:bob', true), said('k:eve', true)]
    expect(await scored([...people, ...flood], ['k'])).toBe(0.5)
  })

  it('makes another rubric of whom the owner trusts', () => {
    expect(trafficRubric({}, { trusted: ['k'] }).hash).not.toBe(trafficRubric({}).hash)
  })
})
