import { present } from '../../../../errors/index.ts'
import type { Float } from '../builder.ts'
import { times } from '../shape.ts'
import { type HeadShape, scoreScale } from './attention.ts'
import { binary } from './elementwise.ts'
import { asRows, reshape, transpose } from './layout.ts'
import { product } from './matmul.ts'
import { reduce } from './rms-norm.ts'

/** How queries read a memory. */
export interface RecallShape extends HeadShape {
  /** Entries that a query of one head attends to; all of them where there are no more. */
  readonly neighbours: number
}

/**
 * Attention over the nearest entries of a memory (Wu et al. 2022, "Memorizing Transformers"). Queries `[…, heads ·
 * headDim]`; keys and values `[entries, kvHeads · headDim]`, at least one entry. Each query head takes the entries with the
 * greatest s·q·k, softmax over these, and the sum of their values so weighted. Result of the queries' shape.
 *
 * Entries that score as high as the last one taken are taken too. The memory is a constant: a gradient flows to the
 * queries alone, and as if the choice of entries did not hang on them.
 */
export function recall(query: Float, keys: Float, values: Float, shape: RecallShape): Float {
  const { heads, kvHeads, headDim } = shape
  const group = heads / kvHeads
  const rows = present(asRows(query).shape[0], 'rows')
  // The query heads that share a key head become rows of one product with it.
  const split = transpose(reshape(query, [rows, kvHeads, group * headDim]), [1, 0, 2])
  const folded = reshape(split, [kvHeads, times(group, rows), headDim])
  const read = nearest(folded, byHead(keys, shape), byHead(values, shape), shape)
  const joined = transpose(reshape(read, [kvHeads, rows, group * headDim]), [1, 0, 2])
  return reshape(joined, query.shape)
}

/** `[entries, kvHeads · headDim]` → `[kvHeads, entries, headDim]`. */
function byHead(x: Float, { kvHeads, headDim }: HeadShape): Float {
  return transpose(reshape(x, [present(x.shape[0], 'entries'), kvHeads, headDim]), [1, 0, 2])
}

/** P·v with P = softmax(s·q·kᵀ) over each query's nearest. Backward, with δ = Σ dO·O: dq = s · (P · (dO·vᵀ − δ)) · k. */
function nearest(q: Float, k: Float, v: Float, shape: RecallShape): Float {
  const scale = scoreScale(shape)
  const scores = product(q, k, { transposeB: true, scale })
  const p = nearestShares(scores, shape.neighbours)
  const o = product(p, v)
  return q.graph.record(o, [q], (dO) => [
    () => {
      const delta = reduce('ReduceSum', binary('Mul', dO, o))
      const dS = binary('Mul', p, binary('Sub', product(dO, v, { transposeB: true }), delta))
      return product(dS, k, { scale })
    },
  ])
}

/** A softmax over the `count` greatest scores of each row `[…, entries]`; 0 for the others. */
function nearestShares(scores: Float, count: number): Float {
  const { graph } = scores
  const entries = graph.node('Shape', [scores], 'int64', [1], { attributes: { start: { int: -1 } } })
  const taken = graph.node('Min', [entries, graph.integers([count])], 'int64', [1])
  const rows = scores.shape.slice(0, -1)
  const [top] = graph.nodeWithOutputs(
    'TopK',
    [scores, taken],
    [
      { dtype: 'float32', shape: [...rows, 'taken'] },
      { dtype: 'int64', shape: [...rows, 'taken'] },
    ],
  )
  const [last, end, axis] = [graph.integers([-1]), graph.integers([Number.MAX_SAFE_INTEGER]), graph.integers([-1])]
  const least = graph.node('Slice', [present(top, 'the greatest scores'), last, end, axis], 'float32', [...rows, 1])
  const near = graph.node('GreaterOrEqual', [scores, least], 'bool', scores.shape)
  const masked = graph.node('Where', [near, scores, graph.scalar(-1e9)], 'float32', scores.shape)
  return graph.node('Softmax', [masked], 'float32', scores.shape, { attributes: { axis: { int: -1 } } })
}
