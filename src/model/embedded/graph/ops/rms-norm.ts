import type { Float } from '../builder.ts'
import { lastOf } from '../shape.ts'
import { binary, unary } from './elementwise.ts'
import { asRows } from './layout.ts'

/**
 * RMSNorm (Zhang & Sennrich 2019): y = x · r · w with r = 1 / √(mean(x²) + ε) over the last axis, w `[width]`.
 * Backward, with g = dy · w: dx = r·g − x · r³ · mean(g·x), dw = Σ over rows of dy · x · r.
 * Made of primitives: the fused operator's inverse deviation is wrong on some execution providers.
 */
export function rmsNorm(x: Float, weight: Float, eps: number): Float {
  const { graph } = x
  const width = graph.scalar(Number(lastOf(x.shape)))
  const meanSquare = binary('Div', reduce('ReduceSumSquare', x), width)
  const inverse = binary('Div', graph.scalar(1), unary('Sqrt', binary('Add', meanSquare, graph.scalar(eps))))
  const normal = binary('Mul', x, inverse)
  return graph.record(binary('Mul', normal, weight), [x, weight], (dy) => [
    () => {
      const g = binary('Mul', dy, weight)
      const mean = binary('Div', reduce('ReduceSum', binary('Mul', g, normal)), width)
      return binary('Mul', binary('Sub', g, binary('Mul', normal, mean)), inverse)
    },
    () => sumRows(asRows(binary('Mul', dy, normal))),
  ])
}

/** A reduction over the last axis, which stays with size 1; not recorded. */
export function reduce(operator: 'ReduceSum' | 'ReduceSumSquare' | 'ReduceMax', x: Float): Float {
  const shape = [...x.shape.slice(0, -1), 1]
  return x.graph.node(operator, [x, x.graph.integers([-1])], 'float32', shape, { attributes: { keepdims: { int: 1 } } })
}

/** The sum of a matrix's rows: `[rows, width]` to `[width]`; not recorded. */
export function sumRows(x: Float): Float {
  const attributes = { keepdims: { int: 0 } }
  return x.graph.node('ReduceSum', [x, x.graph.integers([0])], 'float32', [lastOf(x.shape)], { attributes })
}
