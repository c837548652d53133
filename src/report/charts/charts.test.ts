import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { differenceLine, intervalRow } from './interval.ts'
import { learningCurve } from './learning-curve.ts'
import { wholeTicks } from './scale.ts'
import { pathOf, spark } from './spark.ts'

describe('ticks', () => {
  it('are few, start at 0, rise evenly and stay on the scale', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500_000 }), fc.integer({ min: 3, max: 10 }), (max, limit) => {
        const ticks = wholeTicks(max, limit)
        expect(ticks[0]).toBe(0)
        expect(ticks.length).toBeLessThanOrEqual(limit)
        expect(ticks.at(-1)).toBeLessThanOrEqual(max)
        expect(new Set(ticks.slice(1).map((tick, i) => tick - (ticks[i] ?? 0))).size).toBeLessThanOrEqual(1)
      }),
    )
  })
})

describe('interval row', () => {
  it('puts dot and whisker where the figures are', () => {
    const row = intervalRow({ success: 0.25, ci: [0.2, 0.31] }, 'learned').toString()
    expect(row).toContain('x1="20%" x2="31%"')
    expect(row).toContain('cx="25%"')
  })

  it('draws the scale alone where nothing could be scored', () => {
    expect(intervalRow({ success: null, ci: [0, 1] }, 'arm').toString()).not.toContain('dot')
  })
})

it('a difference line keeps everything on the page', () => {
  const share = fc.double({ min: -1, max: 1, noNaN: true })
  fc.assert(
    fc.property(share, share, share, fc.option(share), (difference, a, b, margin) => {
      const drawn = differenceLine(
        difference,
        [Math.min(a, b, difference), Math.max(a, b, difference)],
        margin,
      ).toString()
      const places = [...drawn.matchAll(/x\d?="(-?[\d.]+)%"/g)].map(([, place]) => Number(place))
      for (const place of places) {
        expect(place).toBeGreaterThanOrEqual(0)
        expect(place).toBeLessThanOrEqual(100)
      }
    }),
  )
})

it('a line breaks where a value is missing', () => {
  const points = [1, null, 3, 4].map((value, at) => ({ at, value }))
  expect(
    pathOf(
      points,
      (at) => at,
      (value) => value,
    ),
  ).toBe('M0 1M2 3L3 4')
})

it('a small chart says what is not finite', () => {
  const text = spark(
    'Loss',
    [
      { at: 1, value: 2 },
      { at: 2, value: null },
    ],
    { unit: 'updates', note: '' },
  ).toString()
  expect(text).toContain('1 not finite')
  expect(spark('Loss', [{ at: 1, value: null }], { unit: 'updates', note: '' }).toString()).not.toContain('<svg')
})

it('a learning curve gives each update its figures, and long runs no more columns than a pointer can find', () => {
  const rate = (success: number) => ({ success, n: 10, ci: [success / 2, (1 + success) / 2] as const, missing: 0 })
  const updates = Array.from({ length: 1000 }, (_, i) => ({
    update: i + 1,
    rollouts: rate(i / 1000),
    reward: null,
    metrics: {},
    tokensSampled: 10,
    tokensPerSecond: null,
    seconds: i,
  }))
  const draw = (n: number) =>
    learningCurve({
      updates: updates.slice(0, n),
      validation: [{ tier: 'single-hop', points: [{ update: 0, rate: rate(0.2) }] }],
      kept: 0,
      before: { seconds: 7, tokens: 0 },
    }).toString()
  expect(draw(3)).toContain('single-hop 20% (10–60)')
  expect(draw(3)).toContain('0:07 · 0 tokens')
  expect(draw(3).match(/class="column"/g)).toHaveLength(4)
  expect(draw(1000).match(/class="column"/g)!.length).toBeLessThanOrEqual(160)
  expect(draw(0)).not.toContain('NaN')
})
