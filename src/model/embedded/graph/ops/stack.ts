import { InvariantError } from '../../../../errors/index.ts'
import type { Dimension, Float } from '../builder.ts'
import { expectSame, lastOf } from '../shape.ts'

/** Matrices of one width, one below the other: `[a, width]` and `[b, width]` as `[a + b, width]`. Backward: each has its rows. */
export function stack(parts: readonly [Float, ...Float[]]): Float {
  const [first, ...others] = parts
  if (others.length === 0) return first
  const { graph, shape } = first
  const heights = parts.map((part) => fixed(part.shape[0]))
  for (const part of parts) expectSame(lastOf(part.shape), lastOf(shape), 'the widths of stacked matrices')
  const whole = graph.node('Concat', parts, 'float32', [sumOf(heights), lastOf(shape)], {
    attributes: { axis: { int: 0 } },
  })
  return graph.record(whole, parts, (dy) =>
    parts.map((part, i) => () => slice(dy, 0, sumOf(heights.slice(0, i)), part.shape)),
  )
}

/** `count` columns of x, from one on: `[…, width]` as `[…, count]`. Backward: the others get 0. */
export function columns(x: Float, from: number, count: number): Float {
  const { graph } = x
  const width = fixed(lastOf(x.shape))
  if (count === width) return x
  const picked = slice(x, -1, from, [...x.shape.slice(0, -1), count])
  const none = x.shape.slice(0, -1).map(() => 0)
  const pads = [...none, from, ...none, width - from - count]
  return graph.record(picked, [x], (dy) => [() => graph.node('Pad', [dy, graph.integers(pads)], 'float32', x.shape)])
}

/** As many of x along the axis as the shape has there, from one on. */
function slice(x: Float, axis: 0 | -1, from: number, shape: readonly Dimension[]): Float {
  const one = (value: number) => x.graph.integers([value])
  return x.graph.node('Slice', [x, one(from), one(from + fixed(shape.at(axis))), one(axis)], 'float32', shape)
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)

function fixed(dimension: Dimension | undefined): number {
  if (typeof dimension !== 'number')
    throw new InvariantError(`the size ${dimension} is not known when the graph is built`)
  return dimension
}
