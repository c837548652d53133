import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { Json } from './json.ts'

it('accepts every JSON value as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(Json.parse(value)).toBe(value)
    }),
  )
  expect(Json.parse(JSON.parse('{"__proto__":{"a":1}}'))).toEqual(JSON.parse('{"__proto__":{"a":1}}'))
  expect(Json.safeParse(Object.assign(Object.create(null), { a: 1 })).success).toBe(true)
})

it.each([
  ['NaN', Number.NaN],
  ['an infinity', [Number.NEGATIVE_INFINITY]],
  ['undefined', undefined],
  ['undefined in an object', { a: undefined }],
  // oxlint-disable-next-line no-sparse-arrays
  ['a hole in an array', [1, , 2]],
  ['a function', () => 1],
  ['a big integer', 1n],
  ['a date', new Date(0)],
  ['a map', new Map()],
  ['a typed array', new Float32Array(2)],
])('refuses %s, which JSON text would change', (_, value) => {
  expect(Json.safeParse(value).success).toBe(false)
})

it('refuses, and survives, nesting without end', () => {
  const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
  expect(Json.safeParse(nested(256)).success).toBe(true)
  expect(Json.safeParse(nested(257)).success).toBe(false)
  expect(Json.safeParse(nested(50_000)).success).toBe(false)
})
