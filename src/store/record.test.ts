import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UnstorableValueError } from './errors/index.ts'
import { toJson } from './record.ts'

describe('the JSON of a record', () => {
  it('reads back as what it was', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        // Through JSON first: it has no negative zero.
        expect(JSON.parse(toJson(value, 'it'))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it('takes an undefined property for an absent one', () => {
    expect(toJson({ a: undefined, b: [{ c: undefined }] }, 'it')).toBe('{"b":[{}]}')
  })

  it.each([
    [{ a: [1, { b: Number.NaN }] }, 'a.1.b is NaN'],
    [[0, Number.NEGATIVE_INFINITY], '1 is -Infinity'],
    [{ tokens: new Float32Array(2) }, 'tokens is [object Float32Array]'],
    [[1, undefined], '1 is [object Undefined]'],
    // oxlint-disable-next-line no-sparse-arrays
    [[, 1], '0 is [object Undefined]'],
    [{ f: () => 1 }, 'f is [object Function]'],
    [{ n: 1n }, 'n is [object BigInt]'],
    [{ s: Symbol('s') }, 's is [object Symbol]'],
    [undefined, 'it is [object Undefined]'],
    [Number.NaN, 'it is NaN'],
  ])('refuses %o and says where', (value, where) => {
    expect(() => toJson(value, 'record r')).toThrow(UnstorableValueError)
    expect(() => toJson(value, 'record r')).toThrow(`The record r cannot be stored: ${where}.`)
  })
})
