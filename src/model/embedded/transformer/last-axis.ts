import type { Float } from '../graph/index.ts'

/** A softmax over the last axis. */
export function lastAxis(operator: 'Softmax' | 'LogSoftmax', x: Float): Float {
  return x.graph.node(operator, [x], 'float32', x.shape, { attributes: { axis: { int: -1 } } })
}
