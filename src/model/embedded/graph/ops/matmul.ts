import { InvariantError } from '../../../../errors/index.ts'
import type { Dimension, Float } from '../builder.ts'
import { expectSame, lastOf } from '../shape.ts'
import { binary } from './elementwise.ts'
import { asRows, transposed } from './layout.ts'

/** How operands enter a product: transposed in their last two axes, and the product's scale. */
export interface ProductOptions {
  readonly transposeA?: boolean
  readonly transposeB?: boolean
  readonly scale?: number
}

/**
 * `scale · x · Wᵀ` with x `[…, in]` and W `[out, in]`: a projection, as Hugging Face stores its matrix.
 * Backward: dx = scale · dy · W, dW = scale · dyᵀ · x over all rows.
 */
export function linear(x: Float, weight: Float, scale = 1): Float {
  return x.graph.record(product(x, weight, { transposeB: true, scale }), [x, weight], (dy) => [
    () => product(dy, weight, { scale }),
    () => product(asRows(dy), asRows(x), { transposeA: true, scale }),
  ])
}

/**
 * A matrix product over the last two axes, not recorded; leading axes are equal, or b has none.
 * FusedMatMul transposes while it reads, so that no transposed copy is made; where the graph may not use it, copies are.
 */
export function product(a: Float, b: Float, options: ProductOptions = {}): Float {
  const { transposeA = false, transposeB = false, scale = 1 } = options
  const { rows, inner } = matrix(a, transposeA)
  const { rows: innerB, inner: columns } = matrix(b, transposeB)
  expectSame(inner, innerB, 'the inner dimensions of a product')
  const shape = [...a.shape.slice(0, -2), rows, columns]
  if (!transposeA && !transposeB && scale === 1) return a.graph.node('MatMul', [a, b], 'float32', shape)
  if (!a.graph.fusedProducts) {
    const [left, right] = [transposeA ? turned(a) : a, transposeB ? turned(b) : b]
    const plain = a.graph.node('MatMul', [left, right], 'float32', shape)
    return scale === 1 ? plain : binary('Mul', plain, a.graph.scalar(scale))
  }
  return a.graph.node('FusedMatMul', [a, b], 'float32', shape, {
    domain: 'com.microsoft',
    attributes: {
      transA: { int: transposeA ? 1 : 0 },
      transB: { int: transposeB ? 1 : 0 },
      alpha: { float: scale },
    },
  })
}

/** The last two axes exchanged. */
function turned(x: Float): Float {
  const axes = x.shape.map((_, axis) => axis)
  return transposed(x, [...axes.slice(0, -2), axes.length - 1, axes.length - 2])
}

function matrix(x: Float, transposed: boolean): { rows: Dimension; inner: Dimension } {
  const rows = x.shape.at(-2)
  if (rows === undefined) throw new InvariantError(`a product needs matrices; ${x.name} has [${x.shape.join(', ')}]`)
  return transposed ? { rows: lastOf(x.shape), inner: rows } : { rows, inner: lastOf(x.shape) }
}
