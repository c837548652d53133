import { z } from 'zod'
import type { TransformerConfig } from '../transformer/config.ts'
import { type Safetensors, readSafetensors } from '../load/safetensors.ts'
import { finite, readMetadata, readTensors, writeTensors } from './adapter-file.ts'
import { type SoftPrompt, SoftPromptConfig, promptShapes, promptTensor } from './soft-prompt.ts'
import { StateMismatchError } from './state-mismatch-error.ts'

/** A soft prompt fits any model of its width, and means something to one of them only: so the file tells the shape of its own. */
const ModelShape = z.strictObject({
  vocabSize: z.int(),
  hiddenSize: z.int(),
  intermediateSize: z.int(),
  layers: z.int(),
})

const SoftPromptMetadata = z.strictObject({
  kind: z.literal('soft-prompt'),
  prompt: SoftPromptConfig,
  model: ModelShape,
})

/** The bytes of a soft prompt: a value of a `weights` Parameter. Equal soft prompts give equal bytes. */
export function writeSoftPrompt(config: TransformerConfig, { length, values }: SoftPrompt): Uint8Array {
  const description = { kind: 'soft-prompt', prompt: { length }, model: shapeOf(config) }
  return writeTensors(promptShapes(config, { length }), new Map([[promptTensor, values]]), description)
}

/** Whether a file holds a soft prompt, by the name of its tensor. */
export const holdsSoftPrompt = ({ tensors }: Safetensors): boolean => tensors.has(promptTensor)

/**
 * Reads a soft prompt for a model of this shape.
 * @throws MalformedSafetensorsError when the bytes are not safetensors.
 * @throws StateMismatchError when they are no soft prompt, one for another model, or hold what is not a number.
 */
export function readSoftPrompt(config: TransformerConfig, bytes: Uint8Array): SoftPrompt {
  const file = readSafetensors(bytes)
  const { prompt, model } = readMetadata(file, SoftPromptMetadata, 'a soft prompt')
  if (describe(model) !== describe(shapeOf(config))) {
    throw new StateMismatchError(`it is a soft prompt of a model with ${describe(model)}, not ${describe(config)}`)
  }
  const values = finite(readTensors(file, promptShapes(config, prompt))).get(promptTensor) ?? new Float32Array()
  return { ...prompt, values }
}

type Shape = z.infer<typeof ModelShape>

const shapeOf = ({ vocabSize, hiddenSize, intermediateSize, layers }: Shape): Shape => ({
  vocabSize,
  hiddenSize,
  intermediateSize,
  layers,
})

const describe = ({ vocabSize, hiddenSize, intermediateSize, layers }: Shape): string =>
  `${vocabSize} tokens, ${layers} layers of width ${hiddenSize} and inner width ${intermediateSize}`
