import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { roundedMatrix, stackedRounded, turned } from './rounded-matrix.ts'

it('rounds to the nearest of 255 steps of its row', () =>
  fc.assert(
    fc.property(fc.float32Array({ minLength: 12, maxLength: 12, min: -1e3, max: 1e3, noNaN: true }), (matrix) => {
      const { elements, scales } = roundedMatrix(matrix, [3, 4])
      for (const [i, value] of matrix.entries()) {
        const scale = scales[Math.floor(i / 4)] as number
        expect(Math.abs((elements[i] as number) * scale - value)).toBeLessThanOrEqual(scale * 0.5001 + 127e-30)
      }
    }),
  ))

it('keeps a row of zeros, and the greatest of each row', () => {
  const { elements, scales } = roundedMatrix(Float32Array.of(0, 0, -254, 127, 0.5, 0.25), [3, 2])
  expect([...elements]).toEqual([0, 0, -127, 64, 127, 64])
  expect([...scales]).toEqual([0, 2, Math.fround(0.5 / 127)])
})

it('stacks rows, and turns them', () => {
  const a = { elements: Int8Array.of(1, 2, 3, 4), scales: Float32Array.of(1, 2) }
  const b = { elements: Int8Array.of(5, 6), scales: Float32Array.of(3) }
  const both = stackedRounded([a, b])
  expect(both).toEqual({ elements: Int8Array.of(1, 2, 3, 4, 5, 6), scales: Float32Array.of(1, 2, 3) })
  expect(stackedRounded([b])).toBe(b)
  expect(turned(both)).toEqual(Int8Array.of(1, 3, 5, 2, 4, 6))
})
