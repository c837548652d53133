import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { tooDeep } from './read-json.ts'

const nested = (levels: number, inner: string): string =>
  `${'{"a":['.repeat(levels / 2)}${inner}${']}'.repeat(levels / 2)}`
const padding = JSON.stringify('x'.repeat(10_000))

it('is 256 levels, in arrays and objects', () => {
  expect(tooDeep(nested(256, padding))).toBe(false)
  expect(tooDeep(nested(258, padding))).toBe(true)
  expect(tooDeep(nested(100_000, '1'))).toBe(true)
})

it('does not count what stands in strings, however they are escaped', () => {
  for (const text of ['['.repeat(9_000), '\\'.repeat(9_000), '"[{'.repeat(9_000), '\\"['.repeat(9_000)]) {
    expect(tooDeep(JSON.stringify([text, { [text]: text }]))).toBe(false)
  }
})

it('no JSON value of ordinary depth is too deep, and half of one neither hangs nor throws', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 20 }), fc.string(), fc.nat(), (value, text, at) => {
      const json = JSON.stringify([value, text, 'x'.repeat(9_000)])
      expect(tooDeep(json)).toBe(false)
      tooDeep(json.slice(at % json.length).repeat(2))
    }),
  )
})
