import * as fc from 'fast-check'
import { Tensor } from 'onnxruntime-node'
import { expect, it } from 'vitest'
import { hasExactBytes } from '../../../../../test/support/exact-bytes.ts'
import { openSession } from '../../device/session.ts'
import { type RoundedMatrix, turned } from '../../transformer/rounded-matrix.ts'
import { GraphBuilder } from '../builder.ts'
import { gradients } from '../gradients.ts'
import { mul } from './elementwise.ts'
import { roundedLinear } from './rounded-linear.ts'

const [width, out] = [40, 24]

/** `x · Wᵀ`, and the gradient of x where that of the product is `dy`. */
async function runs(x: Float32Array, dy: Float32Array, weight: RoundedMatrix) {
  const graph = new GraphBuilder('rounded')
  const rows = x.length / width
  const value = graph.input('x', 'float32', [1, 'nodes', width])
  const y = roundedLinear(value, {
    elements: graph.initializer('elements', 'int8', [out, width], weight.elements),
    turned: graph.initializer('turned', 'int8', [width, out], turned(weight)),
    scales: graph.initializer('scales', 'float32', [out], weight.scales),
  })
  graph.output('y', y)
  const [dx] = gradients(mul(y, graph.input('dy', 'float32', [1, 'nodes', out])), [value])
  if (!dx) throw new Error('no gradient')
  graph.output('dx', dx)
  const session = await openSession(graph.build(), { threads: 1 })
  const results = await session.run({
    x: new Tensor('float32', x, [1, rows, width]),
    dy: new Tensor('float32', dy, [1, rows, out]),
  })
  await session.release()
  return { y: results['y']?.data as Float32Array, dx: results['dx']?.data as Float32Array }
}

const greatest = (values: readonly number[]) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
/** Rounding of float32 in sums of this many, relative to the sum of sizes. */
const ofFloats = 4e-6

/** Each row of `x` times `matrix`, and by how much it may be off where x is rounded by this share of its row's greatest. */
function expected(x: number[][], matrix: number[][], rounding: number): { value: number; off: number }[] {
  return x.flatMap((row) =>
    (matrix[0] ?? []).map((_, column) => {
      const factors = row.map((_, i) => matrix[i]?.[column] ?? Number.NaN)
      const terms = row.map((value, i) => value * (factors[i] ?? Number.NaN))
      const sizes = factors.reduce((total, factor) => total + Math.abs(factor), 0)
      const value = terms.reduce((total, term) => total + term, 0)
      const off = sizes * greatest(row) * rounding + terms.reduce((total, term) => total + Math.abs(term), 0) * ofFloats
      return { value, off: off + 1e-25 }
    }),
  )
}

const element = fc.integer({ min: -127, max: 127 })
const float = fc.integer({ min: -8e6, max: 8e6 }).map((value) => Math.fround(value / 1e6))
const vectors = (length: number, most: number) =>
  fc.array(fc.array(float, { minLength: length, maxLength: length }), { minLength: 1, maxLength: most })
const weights = fc.record({
  elements: fc.array(element, { minLength: out * width, maxLength: out * width }),
  scales: fc.array(fc.float({ min: Math.fround(1e-3), max: 1, noNaN: true }), { minLength: out, maxLength: out }),
})

it.skipIf(!hasExactBytes)(
  'multiplies by the rounded matrix, to 16 bits of each row there and to 8 on the way back',
  () =>
    fc.assert(
      fc.asyncProperty(
        vectors(width, 5),
        fc.infiniteStream(float),
        weights,
        async (rows, stream, { elements, scales }) => {
          const matrix = scales.map((scale, row) =>
            elements.slice(row * width, (row + 1) * width).map((e) => e * scale),
          )
          const transposed = Array.from({ length: width }, (_, i) => matrix.map((row) => row[i] ?? Number.NaN))
          const back = rows.map(() => scales.map(() => stream.next().value as number))
          const { y, dx } = await runs(Float32Array.from(rows.flat()), Float32Array.from(back.flat()), {
            elements: Int8Array.from(elements),
            scales: Float32Array.from(scales),
          })
          // Half a unit of 1 / 127, and of 1 / 254 of that.
          for (const [i, { value, off }] of expected(rows, transposed, 1 / (2 * 127 * 254)).entries())
            expect(Math.abs((y[i] ?? Number.NaN) - value)).toBeLessThanOrEqual(off)
          const scaled = back.map((row) => row.map((value, i) => value * (scales[i] ?? Number.NaN)))
          const integers = scales.map((_, row) => elements.slice(row * width, (row + 1) * width))
          for (const [i, { value, off }] of expected(scaled, integers, 1 / (2 * 127)).entries())
            expect(Math.abs((dx[i] ?? Number.NaN) - value)).toBeLessThanOrEqual(off)
        },
      ),
      { numRuns: 25 },
    ),
)

it('gives a row the same whatever rows are beside it, and zeros for zeros', async () => {
  const weight = {
    elements: Int8Array.from({ length: out * width }, (_, i) => ((i * 37) % 255) - 127),
    scales: Float32Array.from({ length: out }, (_, i) => 0.01 * (i + 1)),
  }
  const row = Float32Array.from({ length: width }, (_, i) => Math.sin(i))
  const dy = Float32Array.from({ length: out }, (_, i) => Math.cos(i))
  const alone = await runs(row, dy, weight)
  const large = row.map((value) => 1000 * value)
  const beside = await runs(
    Float32Array.of(...large, ...row, ...new Float32Array(width)),
    Float32Array.of(...dy, ...dy, ...new Float32Array(out)),
    weight,
  )
  expect(beside.y.slice(out, 2 * out)).toEqual(alone.y)
  expect(beside.dx.slice(width, 2 * width)).toEqual(alone.dx)
  expect(beside.y.slice(2 * out)).toEqual(new Float32Array(out))
  expect(beside.dx.slice(2 * width)).toEqual(new Float32Array(width))
})
