import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { RatchetError } from '../../errors/index.ts'
import { descriptionIn } from '../embedded/load/description.ts'
import { isThere } from '../embedded/load/files.ts'
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
 * alpha / rank. Source: peft 0.21, `PeftModel.save_pretrained`; held by a recorded vector.
 * @param base what the description calls the model that it is over; `null`: whoever loads it knows what they serve.
 * @throws RatchetError `model/no-lora-adapter` for bytes that are none: weights trained in full have no such form.
 */
export function peftAdapter(bytes: Uint8Array, base: string | null = null): PeftAdapter {
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
    base_model_name_or_path: base,
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
  if (await isThere(folder)) return folder
  const files = await adapter()
  await mkdir(root, { recursive: true })
  try {
    await writeWhole(folder, files, async () => {})
  } catch (error) {
    // Another gateway was faster.
    if (!(await isThere(folder))) throw error
  }
  return folder
}

/**
 * Writes an adapter into a new folder, which is there in full or not at all: under a hidden name beside it, and renamed.
 * @param inspect looks at the files before they get their name; what it throws leaves nothing.
 * @returns what it found.
 * @throws what the file system says: also where there is something of that name, or no folder above it.
 */
export async function writeWhole<T>(
  folder: string,
  { config, weights }: PeftAdapter,
  inspect: (draft: string) => Promise<T>,
): Promise<T> {
  const draft = join(dirname(folder), `.${basename(folder)}-${randomUUID()}`)
  try {
    await mkdir(draft)
    await writeFile(join(draft, 'adapter_config.json'), config, { flush: true })
    await writeFile(join(draft, 'adapter_model.safetensors'), weights, { flush: true })
    const found = await inspect(draft)
    await rename(draft, folder)
    return found
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  }
}
