import type { TransformerConfig } from '../transformer/config.ts'
import { type Trained, trainedShapes } from '../transformer/trained.ts'
import { expectSameMemory, readMemoryAdapter, writeMemoryAdapter } from '../memory/memory-adapter.ts'
import { memoryOf } from '../memory/memory-config.ts'
import { readSafetensors, writeSafetensors } from '../load/safetensors.ts'
import { readAdapter, readTensors, writeAdapter } from './adapter-file.ts'
import { FlatTensors, flatten } from './flat-tensors.ts'
import { type LoraConfig, describeLora } from './lora.ts'
import type { SoftPromptConfig } from './soft-prompt.ts'
import { readSoftPrompt, writeSoftPrompt } from './soft-prompt-file.ts'
import { StateMismatchError } from './state-mismatch-error.ts'

/** Trained values as bytes: the file of an adapter or a soft prompt, or a model's safetensors under Hugging Face names. */
export function writeTrainedWeights(config: TransformerConfig, trained: Trained, values: Float32Array): Uint8Array {
  if (trained.kind === 'prompt') return writeSoftPrompt(config, { length: trained.length, values })
  const flat = new FlatTensors(trainedShapes(config, trained), values)
  if (trained.kind === 'lora') return writeAdapter(config, { ...trained, tensors: flat.views() })
  if (trained.kind === 'memory') return writeMemoryAdapter(config, { ...memoryOf(trained), tensors: flat.views() })
  return writeSafetensors(new Map([...flat.shapes].map(([name, shape]) => [name, { shape, data: flat.view(name) }])))
}

/**
 * The values in such bytes, flat.
 * @throws MalformedSafetensorsError, StateMismatchError when they are of another model, rank, alpha, set of targets or length.
 */
export function readTrainedWeights(config: TransformerConfig, trained: Trained, bytes: Uint8Array): Float32Array {
  const shapes = trainedShapes(config, trained)
  if (trained.kind === 'full') return flatten(shapes, readTensors(readSafetensors(bytes), shapes))
  if (trained.kind === 'prompt') {
    const prompt = readSoftPrompt(config, bytes)
    expectSameLength(prompt, trained)
    return prompt.values
  }
  if (trained.kind === 'memory') {
    const adapter = readMemoryAdapter(config, bytes)
    expectSameMemory(adapter, trained)
    return flatten(shapes, adapter.tensors)
  }
  const adapter = readAdapter(config, bytes)
  expectSameLora(adapter, trained)
  return flatten(shapes, adapter.tensors)
}

/** @throws StateMismatchError when saved LoRA weights are of another rank, alpha or set of targets than wanted. */
export function expectSameLora(saved: LoraConfig, wanted: LoraConfig): void {
  if (describeLora(saved) !== describeLora(wanted)) {
    throw new StateMismatchError(`they are ${describeLora(saved)}, and this trainer is ${describeLora(wanted)}`)
  }
}

/** @throws StateMismatchError when a saved soft prompt is of another length than wanted. */
export function expectSameLength(saved: SoftPromptConfig, wanted: SoftPromptConfig): void {
  if (saved.length === wanted.length) return
  throw new StateMismatchError(`they are a soft prompt of ${saved.length}, and this trainer's is of ${wanted.length}`)
}
