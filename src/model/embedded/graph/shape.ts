import { InvariantError } from '../../../errors/index.ts'
import type { Dimension } from '../onnx/model.ts'

/** `factor` times a dimension; the product with a named dimension is a new name. */
export function times(factor: number, dimension: Dimension): Dimension {
  if (factor === 1) return dimension
  return typeof dimension === 'number' ? factor * dimension : `${factor}·${dimension}`
}

/** The shape that two operands broadcast to. @throws InvariantError when they do not. */
export function broadcast(a: readonly Dimension[], b: readonly Dimension[]): readonly Dimension[] {
  const rank = Math.max(a.length, b.length)
  const padded = (shape: readonly Dimension[]) => [...Array<Dimension>(rank - shape.length).fill(1), ...shape]
  const right = padded(b)
  return padded(a).map((left, axis) => {
    const other = right[axis] as Dimension
    if (left === other || other === 1) return left
    if (left === 1) return other
    throw new InvariantError(`shapes [${a.join(', ')}] and [${b.join(', ')}] do not broadcast`)
  })
}

/** Whether two shapes are the same, dimension by dimension. */
export function sameShape(a: readonly Dimension[], b: readonly Dimension[]): boolean {
  return a.length === b.length && a.every((dimension, axis) => dimension === b[axis])
}

/** The last dimension. @throws InvariantError for a scalar. */
export function lastOf(shape: readonly Dimension[]): Dimension {
  const last = shape.at(-1)
  if (last === undefined) throw new InvariantError('a scalar has no last dimension')
  return last
}

/** Throws unless the dimensions agree; `what` names the place in the message. */
export function expectSame(a: Dimension, b: Dimension, what: string): void {
  if (a !== b) throw new InvariantError(`${what}: ${a} and ${b} differ`)
}
