import type { Float } from '../builder.ts'

/** The sum of all elements, a scalar; not recorded: {@link gradients} differentiates sums of elements by itself. */
export function sum(x: Float): Float {
  return x.graph.node('ReduceSum', [x], 'float32', [], { attributes: { keepdims: { int: 0 } } })
}
