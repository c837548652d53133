import { describe, expect, it } from 'vitest'
import { talk, told } from '../../../test/support/traffic-session.ts'
import type { TrajectoryId } from '../../core/index.ts'
import { ReporterShares } from './reporter-shares.ts'

let count = 0
const session = (subject: string | null, reporters: readonly string[] = [], key = 'k') => {
  const id = `s${count++}`
  return {
    trajectory: talk(['Why?', 'So.'], { id, origin: { key, subject } }),
    signals: reporters.map((reporter) => told('thumbs', true, { trajectory: id as TrajectoryId, reporter })),
  }
}
/** How many of these are taken. */
const taken = (shares: ReporterShares, subjects: readonly (string | null)[], key = 'k') =>
  subjects.filter((subject) => shares.take(session(subject, [], key)) !== null).length
const times = <T>(n: number, of: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => of(i))

describe('one reporter', () => {
  it('has a share of the sessions before, and five in any case, however early it floods', () => {
    const shares = new ReporterShares({ share: 0.1 })
    expect(
      taken(
        shares,
        times(100, () => 'mallory'),
      ),
    ).toBe(5)
    expect(
      taken(
        shares,
        times(95, (i) => `user${i}`),
      ),
    ).toBe(95)
    expect(
      taken(
        shares,
        times(100, () => 'mallory'),
      ),
    ).toBe(6)
  })

  it('of few has twice an equal share', () => {
    const shares = new ReporterShares()
    const all = times(100, (i) => ['a', 'b', 'c', 'd'][i % 4] ?? null)
    expect(taken(shares, all)).toBe(100)
    expect(
      taken(
        shares,
        times(1_000, () => 'a'),
      ),
    ).toBe(50)
  })

  it('is not heard of others’ sessions beyond it, and these stay', () => {
    const shares = new ReporterShares({ share: 0.1 })
    const heard = times(100, (i) => shares.take(session(`user${i}`, ['m', `k:user${i}`])))
    expect(heard.filter((one) => one?.signals.length === 2)).toHaveLength(10)
    expect(heard.filter((one) => one?.unheard === 1)).toHaveLength(90)
    const trusting = new ReporterShares({ trusted: ['k', 'm'] })
    expect(times(100, (i) => trusting.take(session(`user${i}`, ['m']))?.unheard)).toEqual(times(100, () => 0))
  })
})

describe('a key', () => {
  const nobody = times(50, () => null)
  const sybils = times(100, (i) => `sybil${i}`)

  it('that is alone is everybody, whether it names people or not', () => {
    expect(taken(new ReporterShares(), nobody)).toBe(50)
    expect(taken(new ReporterShares({ shareOfKey: 0.2 }), sybils)).toBe(100)
  })

  it('beside another one is bounded with all whom it names', () => {
    const shares = new ReporterShares()
    expect(taken(shares, sybils.slice(0, 20), 'k')).toBe(20)
    expect(taken(shares, [...sybils, ...nobody], 'm')).toBe(21)
  })

  it('that is not trusted has its share alone, where another one is', () => {
    const limits = { shareOfKey: 0.1, trusted: ['k'] }
    expect(taken(new ReporterShares(limits), sybils, 'm')).toBe(5)
    const shares = new ReporterShares(limits)
    expect(taken(shares, sybils, 'k')).toBe(100)
    expect(taken(shares, sybils, 'm')).toBe(12)
    expect(
      taken(
        shares,
        times(50, () => 'mallory'),
        'k',
      ),
    ).toBe(6)
  })
})

it('goes on from what was taken before, and forgets what is no longer among the latest', () => {
  const first = new ReporterShares({}, (name) => `#${name}`)
  const before = times(5, () => first.take(session('mallory'))?.reporters ?? [])
  expect(before[0]).toEqual(['#k:mallory', 'key #k'])
  const next = new ReporterShares({}, (name) => `#${name}`)
  for (const reporters of before) next.resume(reporters)
  expect(next.take(session('mallory'))).toBeNull()
  const latest = new ReporterShares({}, undefined, 20)
  taken(
    latest,
    times(5, () => 'mallory'),
  )
  taken(
    latest,
    times(20, (i) => `user${i}`),
  )
  expect(
    taken(
      latest,
      times(9, () => 'mallory'),
    ),
  ).toBe(5)
})
