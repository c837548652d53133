import { InvariantError } from '../../../../errors/index.ts'
import type { Float } from '../builder.ts'
import { broadcast, sameShape } from '../shape.ts'

/*
 * Elementwise operations. Operands broadcast as in ONNX, but a gradient flows only to an operand that has the
 * result's shape: nothing in the engine needs a sum over broadcast axes, and a rule that is not there cannot be wrong.
 */

/** a + b. */
export function add(a: Float, b: Float): Float {
  const sum = binary('Add', a, b)
  return a.graph.record(sum, [a, b], (dy) => [() => whole(dy, a, sum), () => whole(dy, b, sum)])
}

/** a − b. */
export function sub(a: Float, b: Float): Float {
  const difference = binary('Sub', a, b)
  return a.graph.record(difference, [a, b], (dy) => [
    () => whole(dy, a, difference),
    () => whole(unary('Neg', dy), b, difference),
  ])
}

/** a · b. */
export function mul(a: Float, b: Float): Float {
  const product = binary('Mul', a, b)
  return a.graph.record(product, [a, b], (dy) => [
    () => whole(binary('Mul', dy, b), a, product),
    () => whole(binary('Mul', dy, a), b, product),
  ])
}

/** −x. */
export function neg(x: Float): Float {
  return x.graph.record(unary('Neg', x), [x], (dy) => [() => unary('Neg', dy)])
}

/**
 * eˣ; infinite in float32 from x = 88.8 on. No gradient stays none there: 0 · ∞ would be no number, and stop a run at a
 * token that does nothing.
 */
export function exp(x: Float): Float {
  const { graph } = x
  const y = unary('Exp', x)
  return graph.record(y, [x], (dy) => [
    () => {
      const zero = graph.scalar(0)
      const none = graph.node('Equal', [dy, zero], 'bool', dy.shape)
      return graph.node('Where', [none, zero, binary('Mul', dy, y)], 'float32', x.shape)
    },
  ])
}

/** The smaller of a and b; where they are equal the gradient goes to a. */
export function minimum(a: Float, b: Float): Float {
  const { graph } = a
  const result = binary('Min', a, b)
  return graph.record(result, [a, b], (dy) => {
    const first = graph.node('LessOrEqual', [a, b], 'bool', result.shape)
    const zero = graph.scalar(0)
    const where = (yes: Float, no: Float) => graph.node('Where', [first, yes, no], 'float32', result.shape)
    return [() => whole(where(dy, zero), a, result), () => whole(where(zero, dy), b, result)]
  })
}

/** x limited to [low, high], both scalars; the gradient passes inside the bounds, bounds included. */
export function clip(x: Float, low: Float, high: Float): Float {
  const { graph } = x
  const y = graph.node('Clip', [x, low, high], 'float32', x.shape)
  return graph.record(y, [x], (dy) => [
    () => {
      const above = graph.node('GreaterOrEqual', [x, low], 'bool', x.shape)
      const below = graph.node('LessOrEqual', [x, high], 'bool', x.shape)
      const inside = graph.node('And', [above, below], 'bool', x.shape)
      return graph.node('Where', [inside, dy, graph.scalar(0)], 'float32', x.shape)
    },
  ])
}

/** x as a constant: no gradient flows through the result. */
export function stopGradient(x: Float): Float {
  return unary('Identity', x)
}

/** One node of two operands, not recorded: for the inside of rules. */
export function binary(operator: 'Add' | 'Sub' | 'Mul' | 'Div' | 'Min', a: Float, b: Float): Float {
  return a.graph.node(operator, [a, b], 'float32', broadcast(a.shape, b.shape))
}

/** One node of one operand, not recorded: for the inside of rules. */
export function unary(operator: 'Neg' | 'Exp' | 'Log' | 'Sqrt' | 'Sigmoid' | 'Identity', x: Float): Float {
  return x.graph.node(operator, [x], 'float32', x.shape)
}

function whole(gradient: Float, operand: Float, result: Float): Float {
  if (!sameShape(operand.shape, result.shape)) {
    throw new InvariantError(
      `a gradient for an operand of shape [${operand.shape.join(', ')}] that was broadcast to [${result.shape.join(', ')}]`,
    )
  }
  return gradient
}
