import type { Float } from '../builder.ts'
import { binary, unary } from './elementwise.ts'

/** gelu(z) ≈ z · σ(s·(z + c·z³)): ½(1 + tanh u) is σ(2u) (Hendrycks & Gimpel 2016). */
const s = 2 * Math.sqrt(2 / Math.PI)
const c = 0.044715

/**
 * GEGLU (Shazeer 2020) with GELU's tanh approximation: y = gelu(gate) · up.
 * Backward, with σ = σ(a), a = s·(z + c·z³) and gelu = z·σ: d up = dy · gelu, d gate = dy · up · (σ + gelu · (1 − σ) · s·(1 + 3c·z²)).
 */
export function geglu(gate: Float, up: Float): Float {
  const { graph } = gate
  const one = graph.scalar(1)
  const square = binary('Mul', gate, gate)
  const cubic = binary('Add', one, binary('Mul', square, graph.scalar(c)))
  const sigma = unary('Sigmoid', binary('Mul', binary('Mul', gate, graph.scalar(s)), cubic))
  const gelu = binary('Mul', gate, sigma)
  return graph.record(binary('Mul', gelu, up), [gate, up], (dy) => [
    () => {
      const inner = binary('Mul', graph.scalar(s), binary('Add', one, binary('Mul', square, graph.scalar(3 * c))))
      const slope = binary('Add', sigma, binary('Mul', binary('Mul', gelu, binary('Sub', one, sigma)), inner))
      return binary('Mul', binary('Mul', dy, up), slope)
    },
    () => binary('Mul', dy, gelu),
  ])
}
