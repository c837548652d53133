import { z } from 'zod'
import type { TransformerConfig } from '../embedded/transformer/config.ts'
import { toFloat32 } from '../embedded/load/floats.ts'
import { readSafetensors, writeSafetensors } from '../embedded/load/safetensors.ts'
import { promptTensor } from '../embedded/train/soft-prompt.ts'
import { readSoftPrompt, writeSoftPrompt } from '../embedded/train/soft-prompt-file.ts'
import { json } from './peft-config.ts'
import type { PeftAdapter } from './peft-folder.ts'
import { UnusablePeftError } from './unusable-peft-error.ts'

/** What an `adapter_config.json` of prompt tuning says, as far as it changes what is computed. */
const Described = z.looseObject({
  peft_type: z.literal('PROMPT_TUNING'),
  num_virtual_tokens: z.int().positive(),
  num_transformer_submodules: z.literal(1).nullish(),
  modules_to_save: z.null().optional(),
})

/**
 * A soft prompt's bytes as `peft` writes them, for what reads prompt tuning: the same vectors under peft's name. Source: peft
 * 0.21, `PeftModel.save_pretrained`; held by a recorded vector.
 * @param config the model that it is of.
 * @param base what the description calls that model; `null`: nothing.
 * @throws StateMismatchError, MalformedSafetensorsError for bytes that are no soft prompt of this model.
 */
export function peftSoftPrompt(config: TransformerConfig, bytes: Uint8Array, base: string | null = null): PeftAdapter {
  const { length, values } = readSoftPrompt(config, bytes)
  const description = {
    base_model_name_or_path: base,
    inference_mode: true,
    num_attention_heads: config.heads,
    num_layers: config.layers,
    num_transformer_submodules: 1,
    num_virtual_tokens: length,
    peft_type: 'PROMPT_TUNING',
    prompt_tuning_init: 'RANDOM',
    task_type: 'CAUSAL_LM',
    token_dim: config.hiddenSize,
  }
  const tensors = new Map([[promptTensor, { shape: [length, config.hiddenSize], data: values }]])
  return {
    config: `${JSON.stringify(description, null, 2)}\n`,
    weights: writeSafetensors(tensors, { format: 'pt' }),
  }
}

/** Whether an `adapter_config.json` is one of prompt tuning. */
export const tunesPrompt = (description: string): boolean => {
  const found = z.looseObject({ peft_type: z.string() }).safeParse(json(description))
  return found.success && found.data.peft_type === 'PROMPT_TUNING'
}

/**
 * The bytes of a soft prompt of Ratchet, from one that `peft` saved.
 * @throws UnusablePeftError when it is none, or is of another model.
 * @throws MalformedSafetensorsError when the weights are damaged or cut short.
 */
export function softPromptOfPeft(config: TransformerConfig, { config: description, weights }: PeftAdapter): Uint8Array {
  const described = Described.safeParse(json(description))
  if (!described.success) throw unusable('its adapter_config.json does not describe a plain soft prompt')
  const { num_virtual_tokens: length } = described.data
  const { tensors } = readSafetensors(weights)
  const tensor = tensors.get(promptTensor)
  if (tensor === undefined || tensors.size > 1) throw unusable(`it holds other tensors than ${promptTensor}`)
  const shape = [length, config.hiddenSize]
  if (tensor.shape.join() !== shape.join()) {
    throw unusable(`its vectors are [${tensor.shape.join(', ')}], and length and model ask for [${shape.join(', ')}]`)
  }
  const values = toFloat32(promptTensor, tensor)
  const bad = values.findIndex((value) => !Number.isFinite(value))
  if (bad >= 0) throw unusable(`it holds ${values[bad]} at element ${bad}`)
  return writeSoftPrompt(config, { length, values })
}

const unusable = (problem: string) =>
  new UnusablePeftError(
    problem,
    'Give the soft prompt that peft trained for this model, for causal language modelling.',
  )
