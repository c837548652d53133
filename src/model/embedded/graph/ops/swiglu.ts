import type { Float } from '../builder.ts'
import { binary, unary } from './elementwise.ts'

/**
 * SwiGLU (Shazeer 2020): y = silu(gate) · up, silu(z) = z · σ(z).
 * Backward: d up = dy · silu(gate), d gate = dy · up · (σ + silu · (1 − σ)).
 */
export function swiglu(gate: Float, up: Float): Float {
  const { graph } = gate
  const sigma = unary('Sigmoid', gate)
  const silu = binary('Mul', gate, sigma)
  return graph.record(binary('Mul', silu, up), [gate, up], (dy) => [
    () => {
      const slope = binary('Add', sigma, binary('Mul', silu, binary('Sub', graph.scalar(1), sigma)))
      return binary('Mul', binary('Mul', dy, up), slope)
    },
    () => binary('Mul', dy, silu),
  ])
}
