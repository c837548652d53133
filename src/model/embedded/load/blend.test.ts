import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blendedWeights } from './blend.ts'
import { readSafetensors, writeSafetensors } from './safetensors.ts'

const fileOf = (values: readonly number[], { name = 'w', shape = [values.length] } = {}) =>
  writeSafetensors(new Map([[name, { shape, data: Float32Array.from(values) }]]), { ratchet: 'adapter' })
const valuesIn = (file: Uint8Array) => {
  const data = readSafetensors(file).tensors.get('w')?.data ?? new Uint8Array()
  return [...new Float32Array(new Uint8Array(data).buffer)]
}

describe('blended weights', () => {
  it('are so much of the older, and the rest of the newer', () => {
    const blended = blendedWeights(fileOf([1, -2, 0]), fileOf([3, 2, 8]), 0.75)
    expect(valuesIn(blended)).toEqual([1.5, -1, 2])
    expect(readSafetensors(blended).metadata).toEqual({ ratchet: 'adapter' })
  })

  it('lie between both, and are either at the ends', () => {
    const pairs = fc.array(
      fc.tuple(fc.float({ noNaN: true, min: -8, max: 8 }), fc.float({ noNaN: true, min: -8, max: 8 })),
      {
        minLength: 1,
      },
    )
    fc.assert(
      fc.property(pairs, fc.double({ min: 0, max: 1, noNaN: true }), (both, kept) => {
        const [older, newer] = [fileOf(both.map(([a]) => a)), fileOf(both.map(([, b]) => b))]
        for (const [i, value] of valuesIn(blendedWeights(older, newer, kept)).entries()) {
          const [a, b] = both[i] ?? [0, 0]
          expect(value).toBeGreaterThanOrEqual(Math.fround(Math.min(a, b)) - 1e-6)
          expect(value).toBeLessThanOrEqual(Math.fround(Math.max(a, b)) + 1e-6)
        }
        expect(valuesIn(blendedWeights(older, newer, 1)).map((value) => value + 0)).toEqual(
          valuesIn(older).map((value) => value + 0),
        )
        expect(valuesIn(blendedWeights(older, newer, 0)).map((value) => value + 0)).toEqual(
          valuesIn(newer).map((value) => value + 0),
        )
      }),
    )
  })

  it.each([
    ['other names', fileOf([1], { name: 'v' })],
    ['other shapes', fileOf([1], { shape: [1, 1] })],
    ['fewer tensors', writeSafetensors(new Map())],
  ])('are refused of files with %s', (_, other) => {
    for (const [a, b] of [
      [fileOf([1]), other],
      [other, fileOf([1])],
    ] as const)
      expect(() => blendedWeights(a, b, 0.5)).toThrow(expect.objectContaining({ code: 'model/other-tensors' }))
  })

  it('are refused of what is no such file', () => {
    expect(() => blendedWeights(new Uint8Array(3), fileOf([1]), 0.5)).toThrow('header length')
  })
})
