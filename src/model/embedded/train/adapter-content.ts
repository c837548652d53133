import type { MemoryRows } from '../memory/attention-memory.ts'
import type { MemoryAdapter } from '../memory/memory-adapter.ts'
import { memoryOf } from '../memory/memory-config.ts'
import type { TransformerConfig, ModelWeights } from '../transformer/config.ts'
import { type Trained, trainedShapes } from '../transformer/trained.ts'
import { FlatTensors } from './flat-tensors.ts'
import type { AdapterWeights } from './lora.ts'
import type { SoftPrompt } from './soft-prompt.ts'

/**
 * What an adapter is made of: low-rank pairs over the base, a soft prompt in front of it, weights of its own, or what reads a
 * memory, and the memory.
 */
export type AdapterContent =
  | { readonly kind: 'lora'; readonly adapter: AdapterWeights }
  | { readonly kind: 'prompt'; readonly prompt: SoftPrompt }
  | { readonly kind: 'full'; readonly model: ModelWeights }
  | { readonly kind: 'memory'; readonly adapter: MemoryAdapter; readonly memory: MemoryRows | null }

/** Trained values, flat in the order of `trainedShapes`, as an adapter; its tensors are views of them. */
export function adapterContent(config: TransformerConfig, trained: Trained, values: Float32Array): AdapterContent {
  if (trained.kind === 'prompt') return { kind: 'prompt', prompt: { length: trained.length, values } }
  const tensors = new FlatTensors(trainedShapes(config, trained), values).views()
  if (trained.kind === 'full') return { kind: 'full', model: { config, tensors } }
  if (trained.kind === 'memory') {
    return { kind: 'memory', adapter: { ...memoryOf(trained), tensors }, memory: null }
  }
  const { rank, alpha, targets } = trained
  return { kind: 'lora', adapter: { rank, alpha, targets, tensors } }
}
