import { describe, expect, it } from 'vitest'
import { numbers, recorded, relativeError, unpack } from '../../../../test/support/recorded.ts'
import { adamw, newAdamState } from './adamw.ts'
import { clipGradient, gradientNorm } from './clip-gradient.ts'

describe('AdamW', () => {
  it('takes the steps of PyTorch, with clipping and decay', () => {
    const values = numbers(400, 40)
    const state = newAdamState(40)
    for (const [step, expected] of (recorded('adamw') as { norm: number; values: string }[]).entries()) {
      const gradient = numbers(410 + step, 40)
      const norm = gradientNorm(gradient)
      expect(norm).toBeCloseTo(expected.norm, 5)
      clipGradient(gradient, norm, 2)
      adamw(values, gradient, state, { learningRate: 0.01, weightDecay: 0.1 })
      expect(relativeError(values, unpack(expected.values))).toBeLessThan(1e-6)
    }
  })

  it('moves a first step by the learning rate against the sign of the gradient', () => {
    const values = Float32Array.of(1, 1, 1)
    adamw(values, Float32Array.of(5, -0.001, 0), newAdamState(3), { learningRate: 0.1 })
    expect(values[0]).toBeCloseTo(0.9, 5)
    expect(values[1]).toBeCloseTo(1.1, 4)
    expect(values[2]).toBe(1)
  })
})

describe('clipping', () => {
  it('scales to the limit, and leaves a smaller gradient alone', () => {
    const gradient = Float32Array.of(3, 4)
    clipGradient(gradient, gradientNorm(gradient), 10)
    expect([...gradient]).toEqual([3, 4])
    clipGradient(gradient, gradientNorm(gradient), 1)
    expect(gradientNorm(gradient)).toBeCloseTo(1, 6)
    expect(gradient[0]! / gradient[1]!).toBeCloseTo(0.75, 6)
  })
})
