import { z } from 'zod'
import type { TransformerConfig } from '../transformer/config.ts'
import { names, projectionShape } from '../transformer/weights.ts'
import { InvalidAttentionMemoryError } from './invalid-attention-memory-error.ts'
import { type LoraPair, loraPair } from '../train/lora.ts'

/**
 * Attention with a memory in one layer (Wu et al. 2022, "Memorizing Transformers"): each query head also attends to its
 * nearest entries of a memory, and a trained gate a head says how much of the result comes from there.
 */
export const MemoryConfig = z.strictObject({
  /** The layer that reads the memory, from 0. Its own keys and values are what is remembered. */
  layer: z.int().nonnegative(),
  /** Entries that each query of each head attends to; all of them where the memory has no more. */
  neighbours: z.int().positive(),
  /** A LoRA pair on that layer's queries, trained with the gate. Absent: the gate alone is trained. */
  queries: z.strictObject({ rank: z.int().positive(), alpha: z.number().positive() }).exactOptional(),
})
export type MemoryConfig = z.infer<typeof MemoryConfig>

/** @throws InvalidAttentionMemoryError when a setting is out of range, or the model has no such layer. */
export function checkedMemory({ layers }: TransformerConfig, memory: MemoryConfig): MemoryConfig {
  const parsed = MemoryConfig.safeParse(memory)
  if (!parsed.success) throw new InvalidAttentionMemoryError(z.prettifyError(parsed.error).replaceAll('\n', ' '))
  if (parsed.data.layer >= layers) {
    throw new InvalidAttentionMemoryError(
      `layer ${memory.layer} is to read it, and the model has layers 0 to ${layers - 1}`,
    )
  }
  return parsed.data
}

/** The settings alone. */
export const memoryOf = ({ layer, neighbours, queries }: MemoryConfig): MemoryConfig => ({
  layer,
  neighbours,
  ...(queries && { queries }),
})

/** The gate's tensor, `[heads]`: before the sigmoid. */
export const gateName = (layer: number): string => `model.layers.${layer}.self_attn.memory_gate`

/** The pair on the layer's queries, where there is one. */
export function queryPair(config: TransformerConfig, { layer, queries }: MemoryConfig): LoraPair | undefined {
  return queries && loraPair(names.projection(layer, 'q'), projectionShape(config, 'q'), queries.rank)
}

/** Names and shapes of what is trained, in a fixed order. */
export function memoryShapes(config: TransformerConfig, memory: MemoryConfig): Map<string, readonly number[]> {
  const shapes = new Map<string, readonly number[]>([[gateName(memory.layer), [config.heads]]])
  const pair = queryPair(config, memory)
  return pair ? shapes.set(pair.a, pair.shapeA).set(pair.b, pair.shapeB) : shapes
}

/** A memory's settings in words; equal text means equal settings. */
export function describeMemory({ layer, neighbours, queries }: MemoryConfig): string {
  const lora = queries ? `LoRA of rank ${queries.rank}, alpha ${queries.alpha} on its queries` : 'no LoRA'
  return `a memory of ${neighbours} neighbours in layer ${layer}, ${lora}`
}
