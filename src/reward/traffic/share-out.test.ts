import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { talk, told } from '../../../test/support/traffic-session.ts'
import type { Signal } from '../../core/index.ts'
import { type Contribution, shareOut } from './share-out.ts'

const brought = (
  id: string,
  subject: string | null,
  amount: number,
  { key = 'k', signals = [] as readonly Signal[] } = {},
): Contribution => ({
  session: { trajectory: talk(['Why?', 'So.'], { id, origin: { key, subject } }), signals },
  amount,
})
const people = (n: number, amount = 1) => Array.from({ length: n }, (_, i) => brought(`s${i}`, `user${i}`, amount))

const of = (contributions: readonly Contribution[], options: Parameters<typeof shareOut>[1] = {}) => {
  const { amounts, excess } = shareOut(contributions, options)
  const all = amounts.reduce((sum, n) => sum + n, 0)
  const by = (subject: string) =>
    contributions.reduce((sum, { session: { trajectory } }, i) => {
      const { origin } = trajectory
      return sum + (origin.kind === 'traffic' && origin.subject === subject ? (amounts[i] ?? 0) : 0)
    }, 0)
  return { amounts, excess, all, by }
}

describe('whoever brings more than their share', () => {
  it('in few long sessions is cut down to it, and the sessions are not lost whole', () => {
    const { all, by, excess, amounts } = of(
      [...people(45), brought('m1', 'mallory', 40), brought('m2', 'mallory', 40)],
      {
        share: 0.1,
      },
    )
    expect([all, by('mallory')]).toEqual([50, 5])
    expect(amounts.slice(0, 45).every((n) => n === 1)).toBe(true)
    expect(excess).toEqual([{ reporter: 'k:mallory', before: 80, after: 5 }])
  })

  it('by what they report of others’ sessions is cut down as well', () => {
    const spoken = people(50).map((one, i): Contribution => {
      const signals = i < 20 ? [told('edit', true, { trajectory: one.session.trajectory.id, reporter: 'web' })] : []
      return { ...one, session: { ...one.session, signals } }
    })
    const { excess, all } = of(spoken, { share: 0.1 })
    expect(excess.map(({ reporter }) => reporter)).toContain('web')
    expect([excess[0]?.after, all]).toEqual([5, 35])
    expect(of(spoken, { trusted: ['k', 'web'] }).all).toBe(50)
  })

  it('under made-up names is bounded by the share of their key', () => {
    const others = Array.from({ length: 8 }, (_, i) => brought(`o${i}`, 'one', 10, { key: `k${i}` }))
    const flood = Array.from({ length: 100 }, (_, i) => brought(`f${i}`, `sybil${i}`, 5, { key: 'm' }))
    expect(of([...others, ...flood], { trusted: ['m', ...others.map((_, i) => `k${i}`)] }).all).toBe(580)
    const { all } = of([...others, ...flood], { shareOfKey: 0.25 })
    expect(all - 80).toBeLessThanOrEqual(0.25 * all)
    expect(all).toBeGreaterThan(80)
  })
})

describe('whoever does not', () => {
  it('loses nothing, whoever brings none', () => {
    const all = [...people(30, 2), brought('quiet', 'quiet', 0), brought('nobody', null, 100)]
    expect(shareOut(all)).toEqual({ amounts: all.map(({ amount }) => amount), excess: [] })
    expect(shareOut([])).toEqual({ amounts: [], excess: [] })
  })

  it('one who alone shows anything is everybody', () => {
    const all = [...people(30, 0), brought('only', 'reviewer', 7)]
    expect(of(all).by('reviewer')).toBe(7)
  })
})

it('nobody has more than the bound, whoever else is there, and nothing is added', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'm', null] as const
  const row = fc.record({
    subject: fc.constantFrom(...names),
    speaker: fc.constantFrom('k:a', 'k:m', 'other', null),
    amount: fc.nat(12),
  })
  const share = fc.double({ min: 0.05, max: 1, noNaN: true })
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 50 }), share, (rows, share) => {
      const silent = rows.map(({ subject, amount }, i) => brought(`s${i}`, subject, amount))
      const { amounts: own, all } = of(silent, { share })
      const spoken = rows.map(({ subject, speaker, amount }, i) => {
        const signals = speaker === null ? [] : [told('edit', true, { reporter: speaker })]
        return brought(`s${i}`, subject, amount, { signals })
      })
      const { amounts } = of(spoken, { share })
      const owners = new Set(rows.flatMap(({ subject }, i) => ((own[i] ?? 0) > 0 ? [subject] : [])))
      const bound = Math.min(1, Math.max(share, 2 / Math.max(1, owners.size)))
      const total = (counted: readonly number[], mine: (row: (typeof rows)[number]) => boolean) =>
        rows.reduce((sum, row, i) => sum + (mine(row) ? (counted[i] ?? 0) : 0), 0)
      for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'm']) {
        expect(total(own, ({ subject }) => subject === name)).toBeLessThanOrEqual(bound * all + 1e-9)
        const decided = total(amounts, ({ subject, speaker }) => subject === name || speaker === `k:${name}`)
        expect(decided).toBeLessThanOrEqual(bound * all + 1e-9)
      }
      expect(amounts.every((n, i) => n >= 0 && n <= (own[i] ?? 0) && (own[i] ?? 0) <= (rows[i]?.amount ?? 0))).toBe(
        true,
      )
      expect(all > 0).toBe(rows.some(({ amount }) => amount > 0))
    }),
    { numRuns: 300 },
  )
})

it('many who report of others’ sessions leave most of these, however unevenly they do', () => {
  const spoken = people(400).map((one, i): Contribution => {
    const office = i < 10 ? 'small' : `office-${i % 19}`
    const signals = [told('thumbs', true, { trajectory: one.session.trajectory.id, reporter: office })]
    return { ...one, session: { ...one.session, signals } }
  })
  expect(of(spoken).all).toBeGreaterThan(380)
})
