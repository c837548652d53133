import type { Float } from '../builder.ts'
import { binary } from './elementwise.ts'
import { asRows } from './layout.ts'
import { sumRows } from './rms-norm.ts'

/** x + b over the last axis: x `[…, width]`, b `[width]`. Backward: dx = dy, db = Σ over rows of dy. */
export function addBias(x: Float, bias: Float): Float {
  return x.graph.record(binary('Add', x, bias), [x, bias], (dy) => [() => dy, () => sumRows(asRows(dy))])
}
