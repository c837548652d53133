import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, contentHash, sha256 } from './hash.ts'
import type { Json } from './json.ts'

const json = fc.jsonValue() as fc.Arbitrary<Json>

/** The same value with the keys of every object in reverse order. */
function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, reversed(item)]),
  )
}

describe('canonicalJson', () => {
  it('sorts keys at every depth and leaves arrays in order', () => {
    expect(canonicalJson({ b: [2, 1], a: { d: null, c: 'x' } })).toBe('{"a":{"c":"x","d":null},"b":[2,1]}')
  })

  it('sorts keys as texts, numbers too', () => {
    expect(canonicalJson({ b: 1, 9: 1, 10: [{ 2: 0, 10: 0 }] })).toBe('{"10":[{"10":0,"2":0}],"9":1,"b":1}')
  })

  it('does not depend on the order of keys', () => {
    fc.assert(fc.property(json, (value) => canonicalJson(reversed(value)) === canonicalJson(value)))
  })

  it('is JSON text of the same value', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, undefined])('refuses %s, which JSON would change', (value) => {
    expect(() => canonicalJson({ nested: [value as unknown as Json] })).toThrow('has no JSON text')
  })
})

describe('contentHash', () => {
  it('tells apart values that differ in type only', () => {
    const hashes = [1, '1', [1], { 1: 1 }, true, null, 'null', []].map(contentHash)
    expect(new Set(hashes).size).toBe(hashes.length)
  })

  it('is SHA-256 in lower-case hexadecimal', () => {
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(sha256(new TextEncoder().encode('abc'))).toBe(sha256('abc'))
    expect(contentHash('abc')).toBe(sha256('"abc"'))
  })
})
