import { initialMemoryAdapter } from '../memory/memory-adapter.ts'
import type { ModelWeights } from '../transformer/config.ts'
import { type Trained, trainedShapes } from '../transformer/trained.ts'
import { flatten } from './flat-tensors.ts'
import { initialAdapter } from './lora.ts'
import { initialPrompt, promptTensor } from './soft-prompt.ts'

/** Where the values that are not the model's own begin. */
export interface Beginning {
  readonly seed: number
  /** The tokens that a soft prompt begins as. Default: drawn by the seed. */
  readonly tokens?: readonly number[]
  /** How open the gates begin that let a memory in, in (0, 1). Default 0.05. */
  readonly gate?: number
}

/**
 * The values that training starts from, flat, in the order of `trainedShapes`: a fresh adapter that changes nothing, a soft
 * prompt of tokens, the model's own weights, or gates that are a little open.
 * @throws InvalidAttentionMemoryError for gates out of range.
 */
export function initialValues(model: ModelWeights, trained: Trained, beginning: Beginning): Float32Array {
  return flatten(trainedShapes(model.config, trained), initialTensors(model, trained, beginning))
}

function initialTensors(
  model: ModelWeights,
  trained: Trained,
  { seed, tokens, gate }: Beginning,
): ReadonlyMap<string, Float32Array> {
  const { config, tensors } = model
  switch (trained.kind) {
    case 'lora':
      return initialAdapter(config, trained, seed).tensors
    case 'prompt':
      return new Map([
        [promptTensor, initialPrompt(model, trained, { seed, ...(tokens && { initial: tokens }) }).values],
      ])
    case 'memory':
      return initialMemoryAdapter(config, trained, seed, gate).tensors
    case 'full':
      return tensors
  }
}
