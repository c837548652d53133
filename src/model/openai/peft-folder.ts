import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { RatchetError } from '../../errors/index.ts'
import { descriptionIn } from '../embedded/load/description.ts'
import { toFloat32 } from '../embedded/load/floats.ts'
import { readSafetensors, writeSafetensors } from '../embedded/load/safetensors.ts'
import { LoraConfig } from '../embedded/train/lora.ts'

/** The two files of an adapter as `peft` saves it, and as vLLM and others load it. */
export interface PeftAdapter {
  /** `adapter_config.json` */
  readonly config: string
  /** `adapter_model.safetensors` */
  readonly weights: Uint8Array
}

const Description = z.object({ kind: z.literal('adapter'), lora: LoraConfig })

/** peft writes it before the names that tensors have in the model. */
export const tensorPrefix = 'base_model.model.'

/**
 * An adapter's bytes as `peft` writes them: the same pairs under peft's names, scaled by `lora_alpha / r` as ours are by
 * alpha / rank. Source: peft 0.21, `PeftModel.save_pretrained`; held by a recorded vector. The model that it is over is
 * not named: whoever loads it knows what they serve.
 * @throws RatchetError `model/no-lora-adapter` for bytes that are none: weights trained in full have no such form.
 */
export function peftAdapter(bytes: Uint8Array): PeftAdapter {
  const file = readSafetensors(bytes)
  const { tensors } = file
  const described = Description.safeParse(descriptionIn(file))
  if (!described.success) {
    throw new RatchetError({
      code: 'model/no-lora-adapter',
      message: 'These bytes are no LoRA adapter of Ratchet.',
      hint: 'Servers load LoRA adapters only: learn with a rank, not in full.',
    })
  }
  const { rank, alpha } = described.data.lora
  const config = {
    auto_mapping: null,
    base_model_name_or_path: null,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    lora_alpha: alpha,
    lora_dropout: 0,
    modules_to_save: null,
    peft_type: 'LORA',
    r: rank,
    target_modules: [...new Set([...tensors.keys()].map(moduleOf))],
    task_type: 'CAUSAL_LM',
  }
  const renamed = [...tensors].map(
    ([name, tensor]) => [`${tensorPrefix}${name}`, { shape: tensor.shape, data: toFloat32(name, tensor) }] as const,
  )
  return {
    config: `${JSON.stringify(config, null, 2)}\n`,
    weights: writeSafetensors(new Map(renamed), { format: 'pt' }),
  }
}

/** What peft calls an adapted matrix: `q_proj` of `model.layers.0.self_attn.q_proj.lora_A.weight`. */
export const moduleOf = (tensor: string): string => tensor.replace(/\.lora_[AB]\.weight$/, '').replace(/^.*\./, '')

/**
 * Writes an adapter into a folder of that name, which is there in full or not at all; one that is there stays.
 * @returns the folder.
 */
export async function writePeftFolder(
  root: string,
  name: string,
  adapter: () => Promise<PeftAdapter>,
): Promise<string> {
  const folder = join(root, name)
  if (await exists(folder)) return folder
  const { config, weights } = await adapter()
  const draft = join(root, `.${name}-${randomUUID()}`)
  try {
    await mkdir(draft, { recursive: true })
    await writeFile(join(draft, 'adapter_config.json'), config)
    await writeFile(join(draft, 'adapter_model.safetensors'), weights, { flush: true })
    await rename(draft, folder)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    // Another gateway was faster.
    if (!(await exists(folder))) throw error
  }
  return folder
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null
}
