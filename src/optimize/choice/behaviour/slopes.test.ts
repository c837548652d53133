import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adam, rng } from '../../../core/index.ts'
import vectors from './behaviour.vectors.json' with { type: 'json' }
import { encoded } from './encoding.ts'
import { infoNce } from './info-nce.ts'
import { pairSlope } from './train-encoder.ts'

const close = (values: readonly number[], digits = 10) => values.map((one) => expect.closeTo(one, digits) as number)

describe('symmetric InfoNCE', () => {
  it('has the loss and the slope that it has by hand', () => {
    // s = [[1, 0], [0, 0]] / ½ = [[2, 0], [0, 0]]. Rows: log(e² + 1) − 2 and log 2; columns the same.
    const first = Float64Array.from([1, 0, 0, 0])
    const { loss, ...slopes } = infoNce(first, first, 2, 0.5)
    expect(loss).toBeCloseTo((Math.log(Math.exp(2) + 1) - 2 + Math.log(2)) / 2, 12)
    // ∂/∂s₀₀ = (2p − 2) / 4 with p = e² / (e² + 1), and ∂/∂s₁₀ = (½ + 1 − p) / 4; each moves a vector by the other's / ½.
    const p = Math.exp(2) / (Math.exp(2) + 1)
    expect([...slopes.first]).toEqual(close([p - 1, 0, (1.5 - p) / 2, 0]))
    expect([...slopes.second]).toEqual(close([p - 1, 0, (1.5 - p) / 2, 0]))
  })

  it('costs log n where all are alike, and nothing where each pair is far from the others', () => {
    for (const n of [2, 5]) {
      const same = Float64Array.from({ length: n }, () => 1)
      expect(infoNce(same, same, 1, 0.3).loss).toBeCloseTo(Math.log(n), 12)
      const apart = Float64Array.from({ length: n * n }, (_, i) => Number(i % (n + 1) === 0))
      expect(infoNce(apart, apart, n, 0.01).loss).toBeCloseTo(0, 12)
    }
  })

  it.each(vectors.losses)('is what PyTorch makes of it (temperature $temperature)', (recorded) => {
    const { first, second, dimensions, temperature } = recorded
    const { loss, ...slopes } = infoNce(Float64Array.from(first), Float64Array.from(second), dimensions, temperature)
    expect(loss).toBeCloseTo(recorded.loss, 12)
    expect([...slopes.first]).toEqual(close(recorded.firstSlope))
    expect([...slopes.second]).toEqual(close(recorded.secondSlope))
  })

  it('stays finite where scores are large', () => {
    const far = Float64Array.from([1e3, -1e3])
    expect(Number.isFinite(infoNce(far, far, 1, 1e-3).loss)).toBe(true)
  })
})

describe('an encoder', () => {
  const flat = (window: readonly (readonly number[])[]) => Float64Array.from(window.flat())

  it.each(vectors.encoders)('has the loss and the slope that PyTorch has ($hidden hidden units)', (recorded) => {
    const at = Float64Array.from(recorded.at)
    const pairs = { first: recorded.first.map(flat), second: recorded.second.map(flat) }
    const { loss, gradient } = pairSlope(at, recorded, pairs, recorded.temperature)
    expect(loss).toBeCloseTo(recorded.loss, 12)
    expect([...gradient]).toEqual(close(recorded.gradient))
    expect([...encoded(at, recorded, flat(recorded.first[0] ?? [])).unit]).toEqual(close(recorded.vector))
  })

  it('has the slope that finite differences have', () => {
    const shapes = fc.record({
      seed: fc.nat(),
      inputs: fc.integer({ min: 1, max: 3 }),
      hidden: fc.nat(3),
      dimensions: fc.integer({ min: 2, max: 3 }),
      n: fc.integer({ min: 2, max: 4 }),
      temperature: fc.double({ min: 0.3, max: 2, noNaN: true }),
    })
    fc.assert(
      fc.property(shapes, ({ seed, n, temperature, ...shape }) => {
        const random = rng('slopes', seed)
        const some = (length: number) => Float64Array.from({ length }, () => 2 * random.next() - 1)
        const windows = () => Array.from({ length: n }, () => some(shape.inputs * (1 + random.int(3))))
        const pairs = { first: windows(), second: windows() }
        const inner = shape.hidden || shape.inputs
        const at = some(shape.hidden * (shape.inputs + 1) + shape.dimensions * (inner + 1))
        // Near the length 0 a vector turns too fast for differences.
        const shortest = Math.min(
          ...Object.values(pairs).flatMap((side) => side.map((w) => encoded(at, shape, w).length)),
        )
        fc.pre(shortest > 0.05)
        const { gradient } = pairSlope(at, shape, pairs, temperature)
        for (const [i, slope] of gradient.entries()) {
          const moved = (by: number) => {
            const there = at.slice()
            there[i] = (there[i] ?? 0) + by
            return pairSlope(there, shape, pairs, temperature).loss
          }
          expect((moved(1e-5) - moved(-1e-5)) / 2e-5).toBeCloseTo(slope, 4)
        }
      }),
      { numRuns: 50 },
    )
  })
})

it('descends as PyTorch does (Adam)', () => {
  const { rate, start, steps } = vectors.adam
  const values = Float64Array.from(start)
  const descend = adam(values.length, rate)
  for (const { gradient, values: after } of steps) {
    descend(values, Float64Array.from(gradient))
    // PyTorch adds its epsilon after the correction, by which they differ in the eighth digit.
    expect([...values]).toEqual(close(after, 6))
  }
})
