import type { Precision } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { ModelWeights } from './config.ts'
import { type RoundedMatrix, roundedMatrix } from './rounded-matrix.ts'
import { projectionShapes } from './weights.ts'

/** The base as the engine's workers hold it. */
export interface BaseWeights extends ModelWeights {
  /** The blocks' projections in 8 bits, by their names; then `tensors` does not have them. Absent: they are in float32. */
  readonly rounded?: ReadonlyMap<string, RoundedMatrix>
}

/** A model in a precision. */
export function inPrecision(model: ModelWeights, precision: Precision): BaseWeights {
  if (precision !== 'int8') return model
  const { config } = model
  const tensors = new Map(model.tensors)
  const rounded = new Map<string, RoundedMatrix>()
  for (const [name, shape] of projectionShapes(config)) {
    rounded.set(name, roundedMatrix(present(tensors.get(name), name), shape))
    tensors.delete(name)
  }
  return { config, tensors, rounded }
}

/** Bytes of all weights. */
export function bytesOfWeights({ tensors, rounded = new Map() }: BaseWeights): number {
  const matrices = [...rounded.values()].flatMap(({ elements, scales }) => [elements, scales])
  return [...tensors.values(), ...matrices].reduce((sum, { byteLength }) => sum + byteLength, 0)
}
