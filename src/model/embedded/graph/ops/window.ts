import type { Float, Integer } from '../builder.ts'
import { broadcast } from '../shape.ts'
import { reshaped } from './layout.ts'

/** A score this far below the others has probability 0 in float32, and is finite where a whole row is hidden. */
const hidden = -1e9

/**
 * A mask in which a query sees no key that lies `window` or more positions before it. `mask` `[batch, …, queries, keys]` is
 * added to the scores; `queries` `[batch, queries]` and `keys` `[batch, keys]` are positions. No gradient flows through it.
 */
export function windowed(mask: Float, queries: Integer, keys: Integer, window: number): Float {
  const { graph } = mask
  const [batch = 1, ...between] = mask.shape.slice(0, -2)
  const [rows = 1, columns = 1] = mask.shape.slice(-2)
  const from = reshaped(queries, [batch, ...between, rows, 1])
  const to = reshaped(keys, [batch, ...between, 1, columns])
  const shape = broadcast(from.shape, to.shape)
  const near = graph.node(
    'Less',
    [graph.node('Sub', [from, to], 'int64', shape), graph.integers([window])],
    'bool',
    shape,
  )
  return graph.node('Where', [near, mask, graph.scalar(hidden)], 'float32', mask.shape)
}
