import { type LoraConfig, loraShapes } from '../train/lora.ts'
import type { TransformerConfig } from './config.ts'
import { weightShapes } from './weights.ts'

/** What is trained: an adapter over frozen weights, or all weights. */
export type Trained = ({ readonly kind: 'lora' } & LoraConfig) | { readonly kind: 'full' }

/** Names and shapes of the tensors that training changes. */
export function trainedShapes(config: TransformerConfig, trained: Trained): Map<string, readonly number[]> {
  return trained.kind === 'lora' ? loraShapes(config, trained) : weightShapes(config)
}
