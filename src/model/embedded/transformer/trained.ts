import { type MemoryConfig, memoryShapes } from '../memory/memory-config.ts'
import { type LoraConfig, loraShapes } from '../train/lora.ts'
import type { TransformerConfig } from './config.ts'
import { weightShapes } from './weights.ts'

/** What is trained: an adapter over frozen weights, all weights, or what reads a memory (`memory/memory-config.ts`). */
export type Trained =
  | ({ readonly kind: 'lora' } & LoraConfig)
  | { readonly kind: 'full' }
  | ({ readonly kind: 'memory' } & MemoryConfig)

/** Names and shapes of the tensors that training changes. */
export function trainedShapes(config: TransformerConfig, trained: Trained): Map<string, readonly number[]> {
  if (trained.kind === 'memory') return memoryShapes(config, trained)
  return trained.kind === 'lora' ? loraShapes(config, trained) : weightShapes(config)
}
