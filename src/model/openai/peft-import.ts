import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { InputError } from '../../errors/index.ts'
import type { TransformerConfig } from '../embedded/transformer/config.ts'
import { toFloat32 } from '../embedded/load/floats.ts'
import { readSafetensors, type StoredTensor } from '../embedded/load/safetensors.ts'
import { writeAdapter } from '../embedded/train/adapter-file.ts'
import { LoraTarget, loraPairs } from '../embedded/train/lora.ts'
import { readPeftConfig } from './peft-config.ts'
import { moduleOf, type PeftAdapter, tensorPrefix } from './peft-folder.ts'
import { softPromptOfPeft, tunesPrompt } from './peft-prompt.ts'
import { UnusablePeftError } from './unusable-peft-error.ts'

/**
 * The bytes of an adapter of Ratchet, from one that `peft` saved: what a trainer's `loadWeights` and an engine's
 * `loadAdapter` take. The way back of {@link peftAdapter}; float32 values stay the same bits, float16 and bfloat16 ones
 * become the float32 of equal value. A soft prompt of prompt tuning is read, too. Nothing of the files is trusted.
 * @param config the model that the adapter is over: its matrices must be of the adapter's shapes.
 * @throws UnusablePeftError when the adapter is none, is over another model, lacks a tensor, holds values that are no
 * numbers, or uses an option of peft that the engine does not compute.
 * @throws MalformedSafetensorsError when the weights are damaged or cut short.
 */
export function adapterOfPeft(config: TransformerConfig, adapter: PeftAdapter): Uint8Array {
  const { config: description, weights } = adapter
  if (tunesPrompt(description)) return softPromptOfPeft(config, adapter)
  const { rank, alpha, modules } = readPeftConfig(description)
  const stored = withoutPrefix(readSafetensors(weights).tensors)
  const targets = targetsIn(stored)
  checkModules(modules, stored)
  const tensors = new Map<string, Float32Array>()
  for (const { a, b, shapeA, shapeB } of loraPairs(config, { rank, targets })) {
    tensors.set(a, valuesOf(a, stored, shapeA))
    tensors.set(b, valuesOf(b, stored, shapeB))
  }
  for (const name of stored.keys()) {
    if (/(?:^|\.)(?:base_layer|embed_tokens)\.weight$/.test(name)) {
      throw new UnusablePeftError(
        `its tensor ${quote(name)} is one of the model itself, which may have been changed`,
        'Where it was not, save the adapter with save_embedding_layers=False.',
      )
    }
    if (!tensors.has(name)) throw mismatch(`its tensor ${quote(name)} belongs to no matrix of the model`)
  }
  return writeAdapter(config, { rank, alpha, targets, tensors })
}

/** What the two files may be long, in bytes: a description, and the largest array that Node reads at once. */
const mostBytes = { config: 2 ** 20, weights: 2 ** 31 - 1 }

/**
 * Reads the folder of an adapter as `peft` saves it: `adapter_config.json` and `adapter_model.safetensors`.
 * @throws UnusablePeftError when one of them is not there, is no file, or is too large.
 */
export async function readPeftFolder(folder: string): Promise<PeftAdapter> {
  const config = await readFileOf(folder, 'adapter_config.json', mostBytes.config)
  const weights = await readFileOf(folder, 'adapter_model.safetensors', mostBytes.weights)
  return { config: new TextDecoder().decode(config), weights }
}

async function readFileOf(folder: string, name: string, most: number): Promise<Uint8Array> {
  const path = join(folder, name)
  const unreadable = (why: string, cause?: unknown) =>
    new UnusablePeftError(
      `${path} ${why}`,
      'Give the folder that peft wrote with save_pretrained, with safe_serialization.',
      cause,
    )
  // Without O_NONBLOCK it would wait for a pipe that nobody writes to.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch((cause: unknown) =>
    Promise.reject(unreadable('cannot be opened', cause)),
  )
  try {
    const found = await handle.stat()
    if (!found.isFile()) throw unreadable('is no file')
    if (found.size > most) throw unreadable(`has ${found.size} bytes, and at most ${most} are read`)
    return await handle.readFile()
  } catch (cause) {
    throw cause instanceof InputError ? cause : unreadable('cannot be read', cause)
  } finally {
    await handle.close()
  }
}

function withoutPrefix(tensors: ReadonlyMap<string, StoredTensor>): Map<string, StoredTensor> {
  const renamed = new Map<string, StoredTensor>()
  for (const [name, tensor] of tensors) {
    if (!name.startsWith(tensorPrefix)) throw mismatch(`its tensor ${quote(name)} is not under ${tensorPrefix}`)
    renamed.set(name.slice(tensorPrefix.length), tensor)
  }
  return renamed
}

/** Which matrices carry a pair, in the engine's order. */
function targetsIn(stored: ReadonlyMap<string, StoredTensor>): LoraTarget[] {
  const modules = new Set([...stored.keys()].map(moduleOf))
  const targets = LoraTarget.options.filter((target) => modules.has(moduleNamed(target)))
  if (targets.length > 0) return targets
  throw mismatch('its weights adapt no matrix of a Llama')
}

const moduleNamed = (target: LoraTarget): string => (target === 'lm_head' ? target : `${target}_proj`)

/** Every module that the description names has its weights. */
function checkModules(modules: readonly string[], stored: ReadonlyMap<string, StoredTensor>): void {
  const adapted = [...stored.keys()].map((name) => name.replace(/\.lora_[AB]\.weight$/, ''))
  const missing = modules.find((module) => !adapted.some((name) => name === module || name.endsWith(`.${module}`)))
  if (missing !== undefined) throw mismatch(`its target module ${quote(missing)} has no weights`)
}

function valuesOf(name: string, stored: ReadonlyMap<string, StoredTensor>, shape: readonly number[]): Float32Array {
  const tensor = stored.get(name)
  if (tensor === undefined) throw mismatch(`its tensor ${name} is missing`)
  if (tensor.shape.join() !== shape.join()) {
    throw mismatch(
      `its tensor ${name} is [${tensor.shape.join(', ')}], and rank and model ask for [${shape.join(', ')}]`,
    )
  }
  const values = toFloat32(name, tensor)
  const bad = values.findIndex((value) => !Number.isFinite(value))
  if (bad < 0) return values
  throw new UnusablePeftError(
    `its tensor ${name} holds ${values[bad]} at element ${bad}`,
    'Its training diverged: train it again with a lower learning rate.',
  )
}

const mismatch = (problem: string) =>
  new UnusablePeftError(problem, 'Give the adapter in full, and the model that it was trained over.')

/** A name out of the file, escaped and kept short. */
const quote = (name: string): string => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
