import { type MemoryConfig, memoryShapes } from '../memory/memory-config.ts'
import { type LoraConfig, loraShapes } from '../train/lora.ts'
import { type SoftPromptConfig, promptShapes } from '../train/soft-prompt.ts'
import type { TransformerConfig } from './config.ts'
import { weightShapes } from './weights.ts'

/**
 * What is trained: an adapter over frozen weights, all weights, a soft prompt in front of frozen ones, or what reads a memory
 * (`memory/memory-config.ts`).
 */
export type Trained =
  | ({ readonly kind: 'lora' } & LoraConfig)
  | { readonly kind: 'full' }
  | ({ readonly kind: 'prompt' } & SoftPromptConfig)
  | ({ readonly kind: 'memory' } & MemoryConfig)

/** Names and shapes of the tensors that training changes. */
export function trainedShapes(config: TransformerConfig, trained: Trained): Map<string, readonly number[]> {
  switch (trained.kind) {
    case 'lora':
      return loraShapes(config, trained)
    case 'prompt':
      return promptShapes(config, trained)
    case 'memory':
      return memoryShapes(config, trained)
    case 'full':
      return weightShapes(config)
  }
}
