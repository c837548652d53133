import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { measureJson } from './json-bounds.ts'

const nestsDeeperThan = (depth: number, text: string): boolean => measureJson(text, { depth }).excess === 'depth'

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

// In the square of their number it would outlast the test's time by hours.
it('reads millions of anything', () => {
  for (const piece of ['[', '"', '\\', '\\"', '"\\', ']', '{"":']) {
    nestsDeeperThan(128, piece.repeat(4_000_000))
  }
})

const nested = (levels: number, inner: string): string =>
  `${'{"a":['.repeat(levels / 2)}${inner}${']}'.repeat(levels / 2)}`
const padding = JSON.stringify('x'.repeat(10_000))

it('is 256 levels, in arrays and objects', () => {
  expect(nestsDeeperThan(256, nested(256, padding))).toBe(false)
  expect(nestsDeeperThan(256, nested(258, padding))).toBe(true)
  expect(nestsDeeperThan(256, nested(100_000, '1'))).toBe(true)
})

it('does not count what stands in strings, however they are escaped', () => {
  for (const text of ['['.repeat(9_000), '\\'.repeat(9_000), '"[{'.repeat(9_000), '\\"['.repeat(9_000)]) {
    expect(nestsDeeperThan(256, JSON.stringify([text, { [text]: text }]))).toBe(false)
  }
})

it('no JSON value of ordinary depth is too deep, and half of one neither hangs nor throws', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 20 }), fc.string(), fc.nat(), (value, text, at) => {
      const json = JSON.stringify([value, text, 'x'.repeat(9_000)])
      expect(nestsDeeperThan(256, json)).toBe(false)
      nestsDeeperThan(256, json.slice(at % json.length).repeat(2))
    }),
  )
})

const valuesIn = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Object.values(value).reduce((sum: number, inner) => sum + valuesIn(inner), 0)
    : 1
const emptyIn = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? (Object.keys(value).length === 0 ? 1 : 0) +
      Object.values(value).reduce((sum: number, inner) => sum + emptyIn(inner), 0)
    : 0
const mostKeysIn = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Math.max(own, ...Object.values(value).map((inner) => mostKeysIn(inner)))
}

it('counts every value and every key, whatever stands in strings', () => {
  const value = fc.jsonValue({ maxDepth: 5 })
  fc.assert(
    fc.property(value, fc.nat(4), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      const { values, excess } = measureJson(text, { depth: 100 })
      expect(excess).toBeNull()
      expect(values).toBe(valuesIn(value) + emptyIn(value))
      expect(measureJson(text, { depth: 100, values: values - 1 }).excess).toBe(values > 1 ? 'values' : null)
      const keys = mostKeysIn(value)
      expect(measureJson(text, { depth: 100, keys }).excess).toBeNull()
      if (keys > 0) expect(measureJson(text, { depth: 100, keys: keys - 1 }).excess).toBe('keys')
    }),
  )
})

it('stops at the bound: what is behind it is not read', () => {
  const text = `[${'1,'.repeat(8_000_000)}1]`
  expect(measureJson(text, { depth: 2, values: 1_000 })).toEqual({ values: 1_001, excess: 'values' })
})
