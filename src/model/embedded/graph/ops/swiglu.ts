import type { Float } from '../builder.ts'
import { binary, unary } from './elementwise.ts'

/**
 * SwiGLU (Shazeer 2020): y = silu(gate) · up, silu(z) = z · σ(z).
 * Backward: d up = dy · silu(gate), d gate = dy · (y + σ · (up − y)).
 */
export function swiglu(gate: Float, up: Float): Float {
  const { graph } = gate
  const sigma = unary('Sigmoid', gate)
  const silu = binary('Mul', gate, sigma)
  const y = binary('Mul', silu, up)
  return graph.record(y, [gate, up], (dy) => [
    () => binary('Mul', dy, binary('Add', y, binary('Mul', sigma, binary('Sub', up, y)))),
    () => binary('Mul', dy, silu),
  ])
}
