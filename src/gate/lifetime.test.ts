import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LifetimeAlpha, Store } from '../core/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../store/index.ts'
import { claimLevel, levelOf } from './lifetime.ts'

const fdr: LifetimeAlpha = { alpha: 0.1, control: 'fdr' }
const fwer: LifetimeAlpha = { alpha: 0.1, control: 'fwer' }

describe('the level of a candidate', () => {
  // 0.1 · t^-1.5 / 2.612375…, times one more than the promotions: by hand.
  it.each([
    [1, 0, 0.038279338],
    [2, 0, 0.01353379],
    [2, 1, 0.02706758],
    [3, 2, 0.022100586],
    [4, 0, 0.0047849172],
    [10, 9, 0.01210499],
    [100, 0, 0.000038279338],
  ])('%i, after %i promotions, is %d', (candidate, promotions, expected) => {
    expect(levelOf(fdr, candidate, promotions)).toBeCloseTo(expected, 8)
  })

  it('is the bare share where any wrong promotion is one too many', () => {
    expect(levelOf(fwer, 2, 1)).toBe(levelOf(fwer, 2, 0))
    expect(levelOf(fwer, 10, 9)).toBeCloseTo(0.0012104989, 9)
  })

  it('of all candidates together comes to alpha and no more', () => {
    let sum = 0
    for (let candidate = 1; candidate <= 1e6; candidate += 1) sum += levelOf(fwer, candidate, 0)
    // What comes after n has 2 / √n of ζ(1.5), at most.
    expect(sum).toBeLessThan(0.1)
    expect(sum).toBeGreaterThan(0.1 * (1 - 2 / 1e3 / 2.612375))
  })

  it('is such that wrong promotions cost no more than alpha, whatever is promoted', () => {
    const life = fc.array(fc.record({ wrong: fc.boolean(), eValue: fc.double({ min: 0, max: 1e6, noNaN: true }) }), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(life, (candidates) => {
        let [promotions, wrong, paid] = [0, 0, 0]
        for (const [i, { wrong: isWrong, eValue }] of candidates.entries()) {
          const level = levelOf(fdr, i + 1, promotions)
          // What an e-value of a wrong candidate pays for its promotion: expected to be its share of alpha, at most.
          if (isWrong) paid += eValue * levelOf(fwer, i + 1, 0)
          if (eValue < 1 / level) continue
          promotions += 1
          if (isWrong) wrong += 1
        }
        expect(wrong / Math.max(promotions, 1)).toBeLessThanOrEqual(paid * (1 + 1e-12))
      }),
    )
  })
})

describe('levels are claimed', () => {
  let store: Store
  beforeEach(async () => {
    store = await openMemoryStore()
  })
  afterEach(() => store.close())
  const claim = (key: string, agent = 'support') =>
    store.transaction((tx) => claimLevel(tx.levels, { agent, key, lifetime: fdr, at: 7 }))

  it('one after the other, and grow with what was promoted', async () => {
    const levels = [await claim('a'), await claim('b')]
    await store.levels.promoted('support', 'b')
    await store.levels.promoted('support', 'nobody')
    levels.push(await claim('c'), await claim('first of another', 'other'))
    expect(levels.map(({ candidate, promotions, alpha }) => [candidate, promotions, alpha])).toEqual([
      [1, 0, levelOf(fdr, 1, 0)],
      [2, 0, levelOf(fdr, 2, 0)],
      [3, 1, levelOf(fdr, 3, 1)],
      [1, 0, levelOf(fdr, 1, 0)],
    ])
  })

  it('once for a candidate, however often it is tested', async () => {
    const level = await claim('a')
    await claim('b')
    expect(await claim('a')).toEqual(level)
    await store.levels.promoted('support', 'a')
    expect(await claim('a')).toEqual({ ...level, promoted: true })
    expect((await claim('c')).candidate).toBe(3)
  })

  it('by many at once, and each has its own number', async () => {
    const levels = await Promise.all(Array.from({ length: 20 }, (_, i) => claim(`k${i}`)))
    expect(levels.map(({ candidate }) => candidate).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 1),
    )
  })
})
