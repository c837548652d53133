import { createHash } from 'node:crypto'
import { present } from '../../../errors/index.ts'
import type { ModelWeights } from '../transformer/config.ts'
import { names, weightShapes } from '../transformer/weights.ts'
import type { MemoryOrigin } from './attention-memory.ts'

/**
 * Which model and layer a memory is of. The hash is of every weight up to the end of that layer: all that its keys and
 * values hang on.
 */
export function originOf({ config, tensors }: ModelWeights, layer: number): MemoryOrigin {
  const hash = createHash('sha256')
  for (const name of weightShapes(config).keys()) {
    if (layerOf(name) > layer) continue
    const { buffer, byteOffset, byteLength } = present(tensors.get(name), name)
    hash.update(new Uint8Array(buffer, byteOffset, byteLength))
  }
  return { model: hash.digest('hex'), layer, width: config.kvHeads * config.headDim }
}

/** The layer that a weight belongs to: the embedding is before all, what is behind the layers after all. */
function layerOf(name: string): number {
  if (name === names.embedding) return -1
  const layer = /^model\.layers\.(\d+)\./.exec(name)?.[1]
  return layer === undefined ? Number.POSITIVE_INFINITY : Number(layer)
}
