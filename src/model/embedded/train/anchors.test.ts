import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Anchor, addPull, heldAnchors } from './anchors.ts'

const anchor = (importance: number[], values: number[]): Anchor => ({
  importance: Float32Array.from(importance),
  values: Float32Array.from(values),
})
const pull = (anchors: readonly Anchor[], strength: number, values: number[], gradient = values.map(() => 0)) => {
  const held = heldAnchors(anchors, strength)!
  const sum = Float32Array.from(gradient)
  const penalty = addPull(sum, Float32Array.from(values), held)
  return { penalty, gradient: [...sum] }
}

describe('what an anchor costs', () => {
  it('two parameters by hand: λ = 4, F = (0.5, 2), θ* = (1, −1), θ = (3, −0.5)', () => {
    // Penalty 4/2 · (0.5 · 2² + 2 · 0.5²) = 5; gradient 4 · (0.5 · 2, 2 · 0.5) = (4, 4), added to what is there.
    const { penalty, gradient } = pull([anchor([0.5, 2], [1, -1])], 4, [3, -0.5], [1, -6])
    expect(penalty).toBe(5)
    expect(gradient).toEqual([5, -2])
  })

  it('is nothing where the weights are, and nothing for a weight of no importance', () => {
    expect(pull([anchor([0.5, 2], [3, -0.5])], 4, [3, -0.5])).toEqual({ penalty: 0, gradient: [0, 0] })
    expect(pull([anchor([0, 0], [1, -1])], 4, [3, -0.5])).toEqual({ penalty: 0, gradient: [0, 0] })
    expect(pull([anchor([0.5, 2], [1, -1])], 0, [3, -0.5])).toEqual({ penalty: 0, gradient: [0, 0] })
  })

  it('is nothing without anchors', () => {
    expect(heldAnchors([], 4)).toBeNull()
  })
})

const number = fc.double({ min: -3, max: 3, noNaN: true })
const importance = fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 5, noNaN: true }))
const anchors = fc.array(
  fc
    .tuple(fc.array(importance, { minLength: 3, maxLength: 3 }), fc.array(number, { minLength: 3, maxLength: 3 }))
    .map(([f, values]) => anchor(f, values)),
  { minLength: 1, maxLength: 5 },
)
const point = fc.array(number, { minLength: 3, maxLength: 3 }).map((values) => [...Float32Array.from(values)])
const strength = fc.double({ min: 0.1, max: 10, noNaN: true })

it('several anchors held as one cost and pull what they do one by one', () => {
  fc.assert(
    fc.property(anchors, strength, point, (anchors, strength, values) => {
      const together = pull(anchors, strength, values)
      const alone = anchors.map((one) => pull([one], strength, values))
      const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0)
      expect(together.penalty).toBeCloseTo(sum(alone.map(({ penalty }) => penalty)), 3)
      together.gradient.forEach((g, i) => expect(g).toBeCloseTo(sum(alone.map(({ gradient }) => gradient[i]!)), 3))
    }),
  )
})

it('the pull is the slope of the penalty', () => {
  fc.assert(
    fc.property(anchors, strength, point, (anchors, strength, values) => {
      const step = 2 ** -6
      const { gradient } = pull(anchors, strength, values)
      values.forEach((value, i) => {
        const at = (moved: number) => pull(anchors, strength, values.with(i, moved)).penalty
        // Exact for a parabola, up to rounding.
        expect((at(value + step) - at(value - step)) / (2 * step)).toBeCloseTo(gradient[i]!, 2)
      })
    }),
  )
})
