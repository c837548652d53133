import { type LoraConfig, loraShapes } from '../train/lora.ts'
import { type SoftPromptConfig, promptShapes } from '../train/soft-prompt.ts'
import type { TransformerConfig } from './config.ts'
import { weightShapes } from './weights.ts'

/** What is trained: an adapter over frozen weights, all weights, or a soft prompt in front of frozen ones. */
export type Trained =
  | ({ readonly kind: 'lora' } & LoraConfig)
  | { readonly kind: 'full' }
  | ({ readonly kind: 'prompt' } & SoftPromptConfig)

/** Names and shapes of the tensors that training changes. */
export function trainedShapes(config: TransformerConfig, trained: Trained): Map<string, readonly number[]> {
  if (trained.kind === 'lora') return loraShapes(config, trained)
  return trained.kind === 'prompt' ? promptShapes(config, trained) : weightShapes(config)
}
