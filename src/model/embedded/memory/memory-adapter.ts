import { z } from 'zod'
import { finite, readMetadata, readTensors, writeTensors } from '../train/adapter-file.ts'
import { readSafetensors } from '../load/safetensors.ts'
import { type AdapterWeights, initialPair, loraShapes } from '../train/lora.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { StateMismatchError } from '../train/state-mismatch-error.ts'
import { InvalidAttentionMemoryError } from './invalid-attention-memory-error.ts'
import { MemoryConfig, describeMemory, gateName, memoryShapes, queryPair } from './memory-config.ts'

/** What was trained to read a memory: the settings, and the tensors of `memoryShapes` by name. */
export interface MemoryAdapter extends MemoryConfig {
  readonly tensors: ReadonlyMap<string, Float32Array>
}

/** How open the gates are that training starts from: so much of what a head gives comes from the memory. */
const firstGate = 0.05

/**
 * A fresh adapter: every gate open by `open`, in (0, 1), and a LoRA pair that changes nothing.
 * @throws InvalidAttentionMemoryError when `open` is out of range.
 */
export function initialMemoryAdapter(
  config: TransformerConfig,
  memory: MemoryConfig,
  seed: number,
  open = firstGate,
): MemoryAdapter {
  if (!(open > 0 && open < 1))
    throw new InvalidAttentionMemoryError(`its gates begin ${open} open, and must be between 0 and 1`)
  const pair = queryPair(config, memory)
  const gate = [gateName(memory.layer), new Float32Array(config.heads).fill(Math.log(open / (1 - open)))] as const
  return { ...memory, tensors: new Map([gate, ...(pair ? initialPair(pair, seed) : [])]) }
}

/** The adapter's LoRA as one of the whole model, whose other layers it leaves as they are; `null` where it has none. */
export function queriesOf(config: TransformerConfig, { queries, tensors }: MemoryAdapter): AdapterWeights | null {
  if (queries === undefined) return null
  const lora = { ...queries, targets: ['q'] } as const
  const filled = [...loraShapes(config, lora)].map(
    ([name, [rows = 0, columns = 0]]) => [name, tensors.get(name) ?? new Float32Array(rows * columns)] as const,
  )
  return { ...lora, tensors: new Map(filled) }
}

const Metadata = z.strictObject({ kind: z.literal('memory-adapter'), memory: MemoryConfig })

/** The adapter as safetensors bytes. Equal adapters give equal bytes. */
export function writeMemoryAdapter(config: TransformerConfig, { tensors, ...memory }: MemoryAdapter): Uint8Array {
  return writeTensors(memoryShapes(config, memory), tensors, { kind: 'memory-adapter', memory })
}

/**
 * Reads what {@link writeMemoryAdapter} wrote, for a model of this shape.
 * @throws MalformedSafetensorsError when the bytes are not safetensors.
 * @throws StateMismatchError when they are not such an adapter, one for another model, or hold what is not a number.
 */
export function readMemoryAdapter(config: TransformerConfig, bytes: Uint8Array): MemoryAdapter {
  const file = readSafetensors(bytes)
  const { memory } = readMetadata(file, Metadata, 'an adapter that reads a memory')
  return { ...memory, tensors: finite(readTensors(file, memoryShapes(config, memory))) }
}

/** @throws StateMismatchError when saved weights are of other settings than wanted. */
export function expectSameMemory(saved: MemoryConfig, wanted: MemoryConfig): void {
  if (describeMemory(saved) !== describeMemory(wanted)) {
    throw new StateMismatchError(
      `they are for ${describeMemory(saved)}, and this trainer is for ${describeMemory(wanted)}`,
    )
  }
}
