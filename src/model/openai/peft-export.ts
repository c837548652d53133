import { resolve } from 'node:path'
import { openEmbeddedEngine } from '../embedded/engine.ts'
import { isThere } from '../embedded/load/files.ts'
import type { LoadedModel } from '../embedded/load/loaded-model.ts'
import { readSafetensors } from '../embedded/load/safetensors.ts'
import { readAdapter } from '../embedded/train/adapter-file.ts'
import { holdsSoftPrompt } from '../embedded/train/soft-prompt-file.ts'
import type { TransformerConfig } from '../embedded/transformer/config.ts'
import { type AdapterComparison, type ComparingEngine, compareAdapters } from './compare-adapters.ts'
import { PeftExportDiffersError, UnwritablePeftFolderError } from './peft-export-errors.ts'
import { type PeftAdapter, peftAdapter, writeWhole } from './peft-folder.ts'
import { adapterOfPeft, readPeftFolder } from './peft-import.ts'
import { peftSoftPrompt } from './peft-prompt.ts'

/**
 * Most that a log-probability may differ between an adapter and its export, in nats. The export holds the same float32 values
 * and is read by the same engine in its deterministic mode, so a difference of 0 is what there should be.
 */
export const peftExportBound = 1e-6

export interface PeftExportOptions {
  /** The base model, as `loadModel` gives it. */
  readonly model: Pick<LoadedModel, 'name' | 'weights' | 'tokenizer'>
  /** A LoRA adapter or a soft prompt, as a trainer of the embedded engine saved it. */
  readonly adapter: Uint8Array
  /** A folder that is not there yet; the one above it is. */
  readonly folder: string
  /** What `adapter_config.json` calls the base model: a path or a name on a hub that `peft` can load. Default: the model's name. */
  readonly base?: string
  /**
   * Token sequences that the log-probabilities are compared on, as far as the context reaches. Default: some that the adapter
   * says itself, always the same.
   */
  readonly sequences?: readonly (readonly number[])[]
}

/** An export that was read back, and says what the adapter says. */
export interface PeftExport extends AdapterComparison {
  /** Its full path. */
  readonly folder: string
  readonly kind: 'lora' | 'soft-prompt'
  /** What `adapter_config.json` calls the base model. */
  readonly base: string
}

/**
 * Writes an adapter as a folder that `peft`, vLLM and others load: `adapter_config.json` and `adapter_model.safetensors`. Before
 * the folder gets its name it is read back from the disk, as {@link adapterOfPeft} reads it, and log-probabilities under what
 * was read are compared with those under the adapter, on the base model in float32. Where one differs by more than
 * {@link peftExportBound}, or anything else fails, no folder stays.
 * @throws PeftExportDiffersError
 * @throws UnwritablePeftFolderError where there is something of that name, or it cannot be written.
 * @throws RatchetError `model/no-lora-adapter` for weights that were trained in full, which have no such form.
 * @throws StateMismatchError, MalformedSafetensorsError for an adapter of another model, or a damaged one.
 * @throws InvalidSampleRequestError for a sequence with a token outside the vocabulary.
 */
export async function exportPeft(options: PeftExportOptions): Promise<PeftExport> {
  const { weights, tokenizer } = options.model
  const planned = await planExport(options)
  const engine = await openEmbeddedEngine({
    model: weights,
    decode: (tokens) => tokenizer.decode(tokens),
    deterministic: true,
  })
  try {
    return await writeVerified(engine, planned)
  } finally {
    await engine.close()
  }
}

/** An export whose files are made, and not written. */
export interface PlannedExport extends Pick<PeftExport, 'folder' | 'kind' | 'base'> {
  readonly config: TransformerConfig
  readonly adapter: Uint8Array
  readonly files: PeftAdapter
  readonly sequences: PeftExportOptions['sequences']
}

/** Refuses what can be refused before an engine is opened. @throws as {@link exportPeft} does. */
export async function planExport({
  model,
  adapter,
  base = model.name,
  ...options
}: PeftExportOptions): Promise<PlannedExport> {
  const { config } = model.weights
  const kind = holdsSoftPrompt(readSafetensors(adapter)) ? 'soft-prompt' : 'lora'
  const files = kind === 'lora' ? peftAdapter(adapter, base) : peftSoftPrompt(config, adapter, base)
  // An adapter of another model is none to export.
  if (kind === 'lora') readAdapter(config, adapter)
  const folder = resolve(options.folder)
  if (await isThere(folder)) throw new UnwritablePeftFolderError(folder)
  return { folder, kind, base, config, adapter, files, sequences: options.sequences }
}

/** Writes an export, and lets it have its name once it is read back and compared. @throws as {@link exportPeft} does. */
export async function writeVerified(engine: ComparingEngine, planned: PlannedExport): Promise<PeftExport> {
  const { folder, kind, base, config, adapter, files, sequences } = planned
  try {
    const found = await writeWhole(folder, files, async (draft) => {
      const readBack = adapterOfPeft(config, await readPeftFolder(draft))
      const compared = await compareAdapters(engine, { adapter, readBack, sequences })
      const { difference } = compared
      if (!(difference <= peftExportBound)) throw new PeftExportDiffersError({ difference, bound: peftExportBound })
      return compared
    })
    return { folder, kind, base, ...found }
  } catch (error) {
    throw isOfFileSystem(error) ? new UnwritablePeftFolderError(folder, error) : error
  }
}

const isOfFileSystem = (error: unknown): boolean => error instanceof Error && 'syscall' in error
