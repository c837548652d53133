import { canonicalJson } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { ModelWeights } from '../transformer/config.ts'
import { fingerprint } from '../transformer/fingerprint.ts'
import { names, weightShapes } from '../transformer/weights.ts'
import type { MemoryOrigin } from './attention-memory.ts'

/**
 * Which model and layer a memory is of. The hash is of the model's shape and of every weight up to the end of that layer: all
 * that its keys and values hang on. It reads all of them: a second for a gigabyte.
 */
export function originOf({ config, tensors }: ModelWeights, layer: number): MemoryOrigin {
  const before = [...weightShapes(config).keys()].filter((name) => layerOf(name) <= layer)
  const weights = new Map(before.map((name) => [name, present(tensors.get(name), name)]))
  return { model: fingerprint(weights, canonicalJson(config)), layer, width: config.kvHeads * config.headDim }
}

/** {@link originOf} of one model, whose weights are read once for each layer. */
export function originsOf(model: ModelWeights): (layer: number) => MemoryOrigin {
  const known = new Map<number, MemoryOrigin>()
  return (layer) => {
    const origin = known.get(layer) ?? originOf(model, layer)
    known.set(layer, origin)
    return origin
  }
}

/** The layer that a weight belongs to: the embedding is before all, what is behind the layers after all. */
function layerOf(name: string): number {
  if (name === names.embedding) return -1
  const layer = /^model\.layers\.(\d+)\./.exec(name)?.[1]
  return layer === undefined ? Number.POSITIVE_INFINITY : Number(layer)
}
