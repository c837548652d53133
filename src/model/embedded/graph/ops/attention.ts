import type { Float } from '../builder.ts'
import { lazy } from '../lazy.ts'
import { times } from '../shape.ts'
import { binary } from './elementwise.ts'
import { reshape, reshaped, transpose } from './layout.ts'
import { product } from './matmul.ts'
import { reduce } from './rms-norm.ts'

/** How the width of queries and keys divides into heads. */
export interface HeadShape {
  readonly heads: number
  readonly kvHeads: number
  readonly headDim: number
  /** Factor on the products of queries and keys. Default 1 / √headDim. */
  readonly attentionScale?: number
}

/**
 * Grouped-query attention. Queries `[batch, queries, heads · headDim]`; keys and values `[batch, keys, kvHeads ·
 * headDim]`; mask `[batch, queries, keys]`, added to the scores (0 = may attend, a large negative number = may not).
 * Result `[batch, queries, heads · headDim]`.
 *
 * The query heads that share a key head become rows of one matrix, so that each key head is one product.
 */
export function attention(query: Float, key: Float, value: Float, mask: Float, shape: HeadShape): Float {
  const folded = attend(foldQueries(query, shape), splitHeads(key, shape), splitHeads(value, shape), mask, shape)
  const group = shape.heads / shape.kvHeads
  const [batch = 1, queries = 1] = query.shape
  const joined = reshape(folded, [batch, shape.kvHeads, queries, group * shape.headDim])
  const ordered = transpose(joined, [0, 2, 1, 3])
  return reshape(ordered, query.shape)
}

/** The factor on the products of queries and keys. */
export const scoreScale = ({ headDim, attentionScale = 1 / Math.sqrt(headDim) }: HeadShape): number => attentionScale

/** `[batch, queries, heads · headDim]` → `[batch, kvHeads, queries · group, headDim]`. */
function foldQueries(query: Float, { heads, kvHeads, headDim }: HeadShape): Float {
  const [batch = 1, queries = 1] = query.shape
  const group = heads / kvHeads
  const split = transpose(reshape(query, [batch, queries, kvHeads, group * headDim]), [0, 2, 1, 3])
  return reshape(split, [batch, kvHeads, times(group, queries), headDim])
}

/** `[batch, keys, kvHeads · headDim]` → `[batch, kvHeads, keys, headDim]`. */
function splitHeads(x: Float, { kvHeads, headDim }: HeadShape): Float {
  const [batch = 1, keys = 1] = x.shape
  return transpose(reshape(x, [batch, keys, kvHeads, headDim]), [0, 2, 1, 3])
}

/**
 * softmax(s·q·kᵀ + mask)·v per key head. Backward (the form of FlashAttention, Dao et al. 2022): with
 * δ = Σ dO·O over headDim, dS = P · (dO·vᵀ − δ); dq = s·dS·k, dk = s·dSᵀ·q, dv = Pᵀ·dO. P grows with the square of the length:
 * it is computed again then, unless the graph keeps it.
 */
function attend(q: Float, k: Float, v: Float, mask: Float, shape: HeadShape): Float {
  const { graph } = q
  const scale = scoreScale(shape)
  const taken = shares(q, k, mask, shape)
  const o = product(taken, v)
  return graph.record(o, [q, k, v], (dO) => {
    const p = lazy(() => (graph.keepsShares ? taken : shares(q, k, after(dO, mask), shape)))
    const dS = lazy(() => {
      const delta = reduce('ReduceSum', binary('Mul', dO, o))
      return binary('Mul', p(), binary('Sub', product(dO, v, { transposeB: true }), delta))
    })
    return [
      () => product(dS(), k, { scale }),
      () => product(dS(), q, { transposeA: true, scale }),
      () => product(p(), dO, { transposeA: true }),
    ]
  })
}

/** P = softmax(s·q·kᵀ + mask): of each query, what it takes of each value. */
function shares(q: Float, k: Float, mask: Float, shape: HeadShape): Float {
  const { heads, kvHeads } = shape
  const scores = product(q, k, { transposeB: true, scale: scoreScale(shape) })
  const [batch = 1, queries = 1, keys = 1] = mask.shape
  const perHead = reshaped(scores, [batch, kvHeads, queries, heads / kvHeads, keys])
  const masked = binary('Add', perHead, reshaped(mask, [batch, 1, queries, 1, keys]))
  const attributes = { axis: { int: -1 } }
  return reshaped(q.graph.node('Softmax', [masked], 'float32', masked.shape, { attributes }), scores.shape)
}

/**
 * The value, to be had only after another: ONNX Runtime would otherwise see that it computes the same twice, and keep it from the
 * first time.
 */
function after(first: Float, value: Float): Float {
  const { graph } = first
  const sum = graph.node('ReduceSum', [first], 'float32', [], { attributes: { keepdims: { int: 0 } } })
  const zero = graph.node('Mul', [sum, graph.scalar(0)], 'float32', [])
  return graph.node('Add', [value, zero], 'float32', value.shape)
}
