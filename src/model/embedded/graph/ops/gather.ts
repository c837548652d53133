import type { Float, Integer } from '../builder.ts'
import { lastOf } from '../shape.ts'
import { asRows, reshape, reshaped } from './layout.ts'

/**
 * Rows of a table: x `[rows, width]`, indices of any shape S (each in [0, rows)), result `[S…, width]`.
 * Backward adds each row's gradient to the row it came from; rows named more than once receive the sum.
 */
export function gatherRows(x: Float, indices: Integer): Float {
  const { graph } = x
  const width = lastOf(x.shape)
  const picked = graph.node('Gather', [x, indices], 'float32', [...indices.shape, width], {
    attributes: { axis: { int: 0 } },
  })
  return graph.record(picked, [x], (dy) => [() => scatterAdd(x, indices, dy)])
}

/** Elements of x, counted over all its axes; `indices` of any shape, which is the result's. */
export function gatherIntegers(x: Integer, indices: Integer): Integer {
  const { graph } = x
  const flat = reshaped(x, [x.shape.join('·')])
  return graph.node('Gather', [flat, indices], 'int64', indices.shape)
}

/** The leading axes of x merged into one: `[a, b, width]` as `[a·b, width]`. */
export function flattenRows(x: Float): Float {
  return reshape(x, asRows(x).shape)
}

/** Zeros of `like`'s shape plus `rows[i]` at row `indices[i]`. ScatterElements, because ScatterND's sum races. */
function scatterAdd(like: Float, indices: Integer, rows: Float): Float {
  const { graph } = like
  const flat = asRows(rows)
  const [count = 1] = flat.shape
  const column = reshaped(indices, [count, 1])
  const shapeOf = (x: Float) => graph.node('Shape', [x], 'int64', [2])
  const index = graph.node('Expand', [column, shapeOf(flat)], 'int64', flat.shape)
  const zeros = graph.node('ConstantOfShape', [shapeOf(like)], 'float32', like.shape)
  return graph.node('ScatterElements', [zeros, index, flat], 'float32', like.shape, {
    attributes: { axis: { int: 0 }, reduction: { string: 'add' } },
  })
}
