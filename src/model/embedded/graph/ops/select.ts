import type { Float, Value } from '../builder.ts'

/**
 * a where the condition holds, b elsewhere; a and b have the result's shape, and the condition broadcasts to it. A gradient
 * goes where its value came from.
 */
export function select(condition: Value<'bool'>, a: Float, b: Float): Float {
  const { graph } = a
  const where = (yes: Float, no: Float) => graph.node('Where', [condition, yes, no], 'float32', a.shape)
  const zero = graph.scalar(0)
  return graph.record(where(a, b), [a, b], (dy) => [() => where(dy, zero), () => where(zero, dy)])
}
