import type { Float, Integer } from '../builder.ts'
import { unary } from './elementwise.ts'

/** Cosines and sines of the rotary angles, each `[positions, headDim / 2]`. */
export interface RotaryTables {
  readonly cos: Float
  readonly sin: Float
}

/**
 * Rotary positions (Su et al. 2021) on x `[batch, length, heads · headDim]`, in Hugging Face's half-split order.
 * `positions` `[batch, length]` selects the tables' rows. A rotation's inverse is the rotation by −angle, so the
 * backward is the same operator with −sin.
 */
export function rotary(x: Float, positions: Integer, { cos, sin }: RotaryTables): Float {
  return x.graph.record(rotated(x, positions, { cos, sin }), [x], (dy) => [
    () => rotated(dy, positions, { cos, sin: unary('Neg', sin) }),
  ])
}

function rotated(x: Float, positions: Integer, { cos, sin }: RotaryTables): Float {
  return x.graph.node('RotaryEmbedding', [x, positions, cos, sin], 'float32', x.shape, { domain: 'com.microsoft' })
}
