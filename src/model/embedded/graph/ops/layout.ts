import { InvariantError } from '../../../../errors/index.ts'
import type { Dimension, Dtype, Float, Integer, Value } from '../builder.ts'
import { lastOf } from '../shape.ts'

/*
 * Operations that move elements without changing them. Reshape shares its operand's memory; transpose copies.
 */

/** The same elements in another shape. Named dimensions are found in the operand's shape or in the graph's inputs. */
export function reshape(x: Float, shape: readonly Dimension[]): Float {
  return x.graph.record(reshaped(x, shape), [x], (dy) => [() => reshaped(dy, x.shape)])
}

/** {@link reshape}, not recorded. */
export function reshaped<D extends Dtype>(x: Value<D>, shape: readonly Dimension[]): Value<D> {
  return x.graph.node('Reshape', [x, sizes(x, shape)], x.dtype, shape)
}

/**
 * The shape operand of Reshape. ONNX reads 0 as "keep this axis" and −1 as "what is left": with one unknown the
 * vector is a constant, and only with more is it assembled when the graph runs.
 */
function sizes(x: Value, shape: readonly Dimension[]): Integer {
  const { graph } = x
  const kept = (dimension: Dimension, axis: number) => typeof dimension === 'string' && dimension === x.shape[axis]
  const unknown = shape.filter((dimension, axis) => typeof dimension === 'string' && !kept(dimension, axis))
  const remaining = unknown.find((dimension) => !graph.hasSize(String(dimension))) ?? unknown.at(-1)
  const remainingAxis = shape.lastIndexOf(remaining ?? -1)
  const parts = shape.map((dimension, axis): number | Integer => {
    if (typeof dimension === 'number') return dimension
    if (kept(dimension, axis)) return 0
    return axis === remainingAxis ? -1 : graph.size(dimension)
  })
  if (parts.every((part) => typeof part === 'number')) return graph.integers(parts)
  const vectors = parts.map((part) => (typeof part === 'number' ? graph.integers([part]) : part))
  return graph.node('Concat', vectors, 'int64', [shape.length], { attributes: { axis: { int: 0 } } })
}

/** Axes reordered: axis i of the result is axis `order[i]` of x. */
export function transpose(x: Float, order: readonly number[]): Float {
  const inverse = order.map((_, axis) => order.indexOf(axis))
  return x.graph.record(transposed(x, order), [x], (dy) => [() => transposed(dy, inverse)])
}

/** {@link transpose}, not recorded. */
export function transposed(x: Float, order: readonly number[]): Float {
  const shape = order.map((axis) => {
    const dimension = x.shape[axis]
    if (dimension === undefined) throw new InvariantError(`axis ${axis} of a tensor of shape [${x.shape.join(', ')}]`)
    return dimension
  })
  return x.graph.node('Transpose', [x], 'float32', shape, { attributes: { perm: { ints: order } } })
}

/** All axes but the last merged into one, not recorded: `[…, width]` as `[rows, width]`. */
export function asRows(x: Float): Float {
  const leading = x.shape.slice(0, -1)
  if (leading.length === 1) return x
  const rows = leading.every((dimension) => typeof dimension === 'number')
    ? leading.reduce((product, dimension) => product * dimension, 1)
    : leading.join('·')
  return reshaped(x, [rows, lastOf(x.shape)])
}
