import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { nestsDeeperThan } from './json-depth.ts'

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Math.max(0, ...Object.values(value).map((inner) => depthOf(inner)))
    : 0

it('knows how deep JSON nests', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(8), (value, limit) => {
      const text = JSON.stringify(value, null, limit)
      expect(nestsDeeperThan(limit, text)).toBe(depthOf(value) > limit)
    }),
  )
})

it('takes what is in strings for text', () => {
  const tricky = fc.array(fc.constantFrom('"', '\\', '[', '{', ']', '}', 'a', '\n'), { maxLength: 30 })
  fc.assert(
    fc.property(tricky, tricky, (key, value) => {
      const text = JSON.stringify([{ [key.join('')]: value.join('') }])
      expect(nestsDeeperThan(2, text)).toBe(false)
      expect(nestsDeeperThan(1, text)).toBe(true)
    }),
  )
})

it('reads millions of anything in little time', () => {
  for (const piece of ['[', '"', '\\', '\\"', '"\\', ']', '{"":']) {
    const began = performance.now()
    nestsDeeperThan(128, piece.repeat(4_000_000))
    expect(performance.now() - began).toBeLessThan(1_000)
  }
})
