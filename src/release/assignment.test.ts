import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Canary, CanaryId, ReceiptId, ReleaseId, type ServedBy, TrajectoryId } from '../core/index.ts'
import { agent, base, model, prompt, setOf } from '../../test/support/canary-parts.ts'
import { assignmentOf, placeOf, type ServingAgent } from './assignment.ts'

const better = prompt('better')
const versions = new Map([model, base].map((version) => [version.parameter, version]))
const tried = new Map([model, better].map((version) => [version.parameter, version]))
const session = (i: number) => TrajectoryId.parse(`t_${i}`)

const canaryAt = (share: number, salt = 'salt', id = 'canary'): Canary => ({
  id: CanaryId.parse(id),
  agent,
  baseline: ReleaseId.parse('initial'),
  candidate: setOf(model, better),
  admission: null,
  run: null,
  gate: { name: 'canary', config: {} },
  shares: [share],
  step: 0,
  salt,
  generation: 4,
  status: 'running',
  receipt: null,
  reason: '',
  startedAt: 0,
  stepAt: 0,
  endedAt: null,
})

const served = (canary: Canary | null, receipt: string | null = null): ServingAgent => ({
  agent,
  release: {
    id: ReleaseId.parse('initial'),
    agent,
    versions: setOf(model, base),
    run: null,
    createdAt: 0,
    receipt: receipt === null ? null : ReceiptId.parse(receipt),
  },
  generation: 3,
  versions,
  canary: canary && { canary, versions: tried, generation: canary.generation },
})

const byPerson = (share: number, salt: string): Canary => ({
  ...canaryAt(share, salt),
  gate: { name: 'canary', config: { people: { trusted: ['backend'] } } },
})

const armOf = (servedBy: ServedBy) => servedBy.canary?.arm ?? null
const shares = fc.double({ min: 0.001, max: 1, noNaN: true })

describe('the place of a session', () => {
  it('is uniform in [0, 1), for every salt', () => {
    for (const salt of ['a', 'b', '0b6c2f8e']) {
      const [n, bins] = [20_000, 20]
      const counts = Array.from({ length: bins }, () => 0)
      for (let i = 0; i < n; i++) counts[Math.floor(placeOf(salt, session(i)) * bins)]! += 1
      expect(counts).toHaveLength(bins)
      const expected = n / bins
      const chi2 = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
      // 19 degrees of freedom: 43.8 is exceeded once in a thousand times; salts are fixed.
      expect(chi2).toBeLessThan(43.8)
    }
  })

  it('under one salt says nothing of the place under another', () => {
    const n = 20_000
    let [product, a, b] = [0, 0, 0]
    for (let i = 0; i < n; i++) {
      const [x, y] = [placeOf('one', session(i)), placeOf('other', session(i))]
      product += x * y
      a += x
      b += y
    }
    const correlation = 12 * (product / n - (a / n) * (b / n))
    expect(Math.abs(correlation)).toBeLessThan(4 / Math.sqrt(n))
  })
})

describe('an assignment', () => {
  it('is what serves everybody, where nothing is tried', () => {
    expect(assignmentOf(served(null), session(1), null, true)).toEqual({
      servedBy: { release: 'initial', canary: null },
      versions,
      generation: 3,
      learned: false,
    })
    expect(assignmentOf(served(null, 'receipt'), session(1), null, true).learned).toBe(true)
  })

  it('carries the versions and the generation of its arm', () => {
    const whole = assignmentOf(served(canaryAt(1)), session(1), null, true)
    expect(whole).toEqual({
      servedBy: { release: 'initial', canary: { id: 'canary', arm: 'candidate', propensity: 1 } },
      versions: tried,
      generation: 4,
      learned: true,
    })
    const none = assignmentOf(served(canaryAt(1e-9)), session(1), null, true)
    expect(none).toMatchObject({ versions, generation: 3, learned: false })
    expect(none.servedBy.canary).toMatchObject({ arm: 'baseline', propensity: 1 - 1e-9 })
  })

  it('goes to the candidate as often as the share says, within binomial bounds', () => {
    for (const share of [0.01, 0.1, 0.5, 0.9]) {
      const n = 10_000
      let hits = 0
      for (let i = 0; i < n; i++) {
        if (armOf(assignmentOf(served(canaryAt(share)), session(i), null, true).servedBy) === 'candidate') hits += 1
      }
      expect(Math.abs(hits - n * share)).toBeLessThan(4 * Math.sqrt(n * share * (1 - share)))
    }
  })

  it('has the propensity of its arm: those of both arms sum to 1, and none is 0', () => {
    fc.assert(
      fc.property(shares, fc.string(), (share, salt) => {
        const { canary } = assignmentOf(served(canaryAt(share, salt)), session(1), null, true).servedBy
        const other = canary?.arm === 'candidate' ? 1 - share : share
        expect(canary?.propensity).toBeGreaterThan(0)
        expect((canary?.propensity ?? 0) + other).toBeCloseTo(1, 12)
      }),
    )
  })

  it('only ever gains sessions while the share rises, also where nothing is known of them', () => {
    fc.assert(
      fc.property(shares, shares, fc.string(), fc.nat(), (one, other, salt, i) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)]
        const before = armOf(assignmentOf(served(canaryAt(low, salt)), session(i), null, true).servedBy)
        const after = armOf(assignmentOf(served(canaryAt(high, salt)), session(i), null, true).servedBy)
        if (before === 'candidate') expect(after).toBe('candidate')
      }),
    )
  })

  it('is kept by a session while its canary runs, whatever the share becomes', () => {
    fc.assert(
      fc.property(shares, shares, fc.nat(), (begun, now, i) => {
        const first = assignmentOf(served(canaryAt(begun)), session(i), null, true)
        const later = assignmentOf(served(canaryAt(now)), session(i), first.servedBy, true)
        expect(later.servedBy).toEqual(first.servedBy)
        expect(later.versions).toBe(first.versions)
      }),
    )
  })

  it('is one for all sessions of a person, who keeps the candidate while the share rises', () => {
    fc.assert(
      fc.property(shares, shares, fc.string({ minLength: 1 }), fc.nat(), fc.nat(), (one, other, subject, i, j) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)]
        const owner = { key: 'backend', subject }
        const arm = (share: number, at: number, salt = 'salt') =>
          armOf(assignmentOf(served(byPerson(share, salt)), session(at), null, true, owner).servedBy)
        expect(arm(low, i)).toBe(arm(low, j))
        if (arm(low, i) === 'candidate') expect(arm(high, j)).toBe('candidate')
      }),
    )
  })

  it('is each session’s own where nobody is known: a key that is not trusted holds on to no arm by a name', () => {
    for (const [canary, owner] of [
      [byPerson(0.5, 'salt'), { key: 'stranger', subject: 'ann' }],
      [byPerson(0.5, 'salt'), { key: 'backend', subject: null }],
      [canaryAt(0.5), { key: 'backend', subject: 'ann' }],
    ] as const) {
      const arms = Array.from({ length: 40 }, (_, i) => assignmentOf(served(canary), session(i), null, true, owner))
      const alone = Array.from({ length: 40 }, (_, i) => assignmentOf(served(canary), session(i), null, true))
      expect(arms).toEqual(alone)
      expect(new Set(arms.map(({ servedBy }) => armOf(servedBy))).size).toBe(2)
    }
  })

  it('goes to as many people as the share says', () => {
    const n = 10_000
    const hits = Array.from({ length: n }, (_, i) => {
      const owner = { key: 'backend', subject: `user-${i}` }
      return armOf(assignmentOf(served(byPerson(0.1, 'salt')), session(1), null, true, owner).servedBy)
    }).filter((arm) => arm === 'candidate').length
    expect(Math.abs(hits - n * 0.1)).toBeLessThan(4 * Math.sqrt(n * 0.09))
  })

  it('is what serves everybody once the canary has ended, also when another one runs', () => {
    const first = assignmentOf(served(canaryAt(1)), session(1), null, true)
    for (const canary of [null, canaryAt(1, 'salt', 'another')]) {
      const later = assignmentOf(served(canary), session(1), first.servedBy, true)
      expect(later).toEqual({ servedBy: first.servedBy, versions, generation: 3, learned: false })
    }
  })

  it('stays the baseline for a session that began before the canary, outside the evidence', () => {
    const known: ServedBy = { release: ReleaseId.parse('earlier'), canary: null }
    const later = assignmentOf(served(canaryAt(1)), session(1), known, true)
    expect(later).toEqual({ servedBy: known, versions, generation: 3, learned: false })
  })

  it('get what serves everybody while nobody watches, and what they had when somebody does again', () => {
    const of = (known: Parameters<typeof assignmentOf>[2], watched: boolean) =>
      assignmentOf(served(canaryAt(1)), session(1), known, watched)
    const began = of(null, true)
    expect(armOf(began.servedBy)).toBe('candidate')
    const meanwhile = of(began.servedBy, false)
    expect(meanwhile).toMatchObject({ servedBy: began.servedBy, learned: false })
    expect(meanwhile.generation).toBeLessThan(began.generation)
    expect(of(began.servedBy, true)).toEqual(began)
    const fresh = of(null, false)
    expect(fresh.servedBy.canary).toBeNull()
    expect(of(fresh.servedBy, true).servedBy.canary).toBeNull()
  })
})
