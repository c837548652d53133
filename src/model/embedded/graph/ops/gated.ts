import { present } from '../../../../errors/index.ts'
import type { Dimension, Float } from '../builder.ts'
import { lastOf } from '../shape.ts'
import { binary, unary } from './elementwise.ts'
import { lazy } from '../lazy.ts'
import { asRows, reshaped } from './layout.ts'

/**
 * Two results of attention mixed by a gate a head: y = (1 − g) · local + g · recalled with g = σ(gate). Both `[…, heads ·
 * headDim]`, gate `[heads]`. Backward: d local = (1 − g) · dy, d recalled = g · dy, and d gate = g · (1 − g) · Σ dy · (recalled
 * − local), over rows and the head's width.
 */
export function gated(local: Float, recalled: Float, gate: Float): Float {
  const { graph } = gate
  const heads = present(gate.shape[0], 'heads')
  const width = Number(lastOf(local.shape)) / Number(heads)
  const rows = present(asRows(local).shape[0], 'rows')
  const perHead = (x: Float) => reshaped(x, [rows, heads, width])
  const whole = (x: Float) => reshaped(x, local.shape)

  const open = reshaped(unary('Sigmoid', gate), [heads, 1])
  const closed = binary('Sub', graph.scalar(1), open)
  const difference = binary('Sub', perHead(recalled), perHead(local))
  const mixed = binary('Add', perHead(local), binary('Mul', difference, open))
  return graph.record(whole(mixed), [local, recalled, gate], (dy) => {
    const upstream = lazy(() => perHead(dy))
    return [
      () => whole(binary('Mul', upstream(), closed)),
      () => whole(binary('Mul', upstream(), open)),
      () => {
        const slope = reshaped(binary('Mul', open, closed), [heads])
        return binary('Mul', sumBut(binary('Mul', upstream(), difference), heads), slope)
      },
    ]
  })
}

/** `[rows, heads, width]` summed over rows and width. */
function sumBut(x: Float, heads: Dimension): Float {
  return x.graph.node('ReduceSum', [x, x.graph.integers([0, 2])], 'float32', [heads], {
    attributes: { keepdims: { int: 0 } },
  })
}
