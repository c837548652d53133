import { type Float, type GraphBuilder, gated, recall } from '../graph/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import type { MemoryConfig } from './memory-config.ts'

/**
 * Names of the graph inputs that hold a memory, `[entries, kvHeads · headDim]` each, and of the gates `[heads]` where they are
 * no trained tensor of the graph.
 */
export const memoryPorts = { keys: 'memory.keys', values: 'memory.values', gate: 'memory.gate' } as const

/** A memory as part of a graph. */
export interface ReadMemory {
  /** The layer that reads it. */
  readonly layer: number
  /**
   * What attention gives, mixed with what the memory gives. `queries` are those of the layer before positions turn them: a
   * memory has no positions, and each entry scores as if it stood at the query's own place.
   */
  mix(local: Float, queries: Float, gate: Float): Float
}

/** Declares the inputs that hold a memory. */
export function readMemory(
  graph: GraphBuilder,
  config: TransformerConfig,
  { layer, neighbours }: Pick<MemoryConfig, 'layer' | 'neighbours'>,
): ReadMemory {
  const { heads, kvHeads, headDim, attentionScale } = config
  const shape = { heads, kvHeads, headDim, ...(attentionScale !== undefined && { attentionScale }), neighbours }
  const input = (name: string) => graph.input(name, 'float32', ['entries', kvHeads * headDim])
  const [keys, values] = [input(memoryPorts.keys), input(memoryPorts.values)]
  return { layer, mix: (local, queries, gate) => gated(local, recall(queries, keys, values, shape), gate) }
}
