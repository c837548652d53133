import { z } from 'zod'
import { describedBy } from '../load/description.ts'
import { readSafetensors, writeSafetensors } from '../load/safetensors.ts'
import { finite, readMetadata, readTensors } from '../train/adapter-file.ts'
import { StateMismatchError } from '../train/state-mismatch-error.ts'
import { InvalidAttentionMemoryError } from './invalid-attention-memory-error.ts'

/** Keys and values of tokens in one layer: each array is `[length, width]`, row-major, width = kvHeads · headDim. */
export interface MemoryRows {
  readonly length: number
  readonly keys: Float32Array
  readonly values: Float32Array
}

/** Where a memory's entries come from: they mean nothing to another model or layer. */
export interface MemoryOrigin {
  /** SHA-256 of the model's shape and of the weights that the layer's keys and values hang on, in hexadecimal. */
  readonly model: string
  readonly layer: number
  /** Elements of one key. */
  readonly width: number
}

const Metadata = z.strictObject({
  kind: z.literal('attention-memory'),
  model: z.string(),
  layer: z.int().nonnegative(),
  width: z.int().positive(),
  capacity: z.int().positive(),
})

/**
 * What one layer remembers of the tokens of a document or a session: a bounded list of keys and values, oldest first. The
 * oldest entries go when it is full. One memory belongs to one document, person or session: nothing in it says whose it is.
 */
export class AttentionMemory {
  readonly origin: MemoryOrigin
  /** Most entries. */
  readonly capacity: number
  #keys = new Float32Array(0)
  #values = new Float32Array(0)

  /** @throws InvalidAttentionMemoryError when the capacity is not a positive integer. */
  constructor(origin: MemoryOrigin, capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 1) {
      throw new InvalidAttentionMemoryError(`its capacity is ${capacity}, and must be a positive integer`)
    }
    this.origin = origin
    this.capacity = capacity
  }

  /** Entries held. */
  get length(): number {
    return this.#keys.length / this.origin.width
  }

  /**
   * Adds entries, newest last.
   * @throws InvalidAttentionMemoryError when they are not as wide as this memory's.
   */
  append({ length, keys, values }: MemoryRows): void {
    const { width } = this.origin
    if (keys.length !== length * width || values.length !== length * width) {
      throw new InvalidAttentionMemoryError(
        `${length} entries have ${keys.length} and ${values.length} elements, and ${width} each are needed`,
      )
    }
    this.#keys = joined(this.#keys, keys, this.capacity * width)
    this.#values = joined(this.#values, values, this.capacity * width)
  }

  /** A copy of all entries, oldest first. */
  rows(): MemoryRows {
    return { length: this.length, keys: this.#keys.slice(), values: this.#values.slice() }
  }

  /** Forgets everything. */
  clear(): void {
    this.#keys = new Float32Array(0)
    this.#values = new Float32Array(0)
  }

  /** The memory as safetensors bytes. */
  toBytes(): Uint8Array {
    const shape = [this.length, this.origin.width]
    const tensors = new Map([
      ['keys', { shape, data: this.#keys }],
      ['values', { shape, data: this.#values }],
    ])
    const metadata = { kind: 'attention-memory', ...this.origin, capacity: this.capacity }
    return writeSafetensors(tensors, describedBy(metadata))
  }

  /**
   * Reads what {@link AttentionMemory.toBytes} wrote.
   * @throws MalformedSafetensorsError when the bytes are not safetensors.
   * @throws StateMismatchError when they are not a memory, one of another model or layer than `origin`, or hold what is not a
   *   number.
   */
  static fromBytes(bytes: Uint8Array, origin: MemoryOrigin): AttentionMemory {
    const file = readSafetensors(bytes)
    const { capacity, kind: _, ...found } = readMetadata(file, Metadata, 'an attention memory')
    expectOrigin(found, origin)
    const length = file.tensors.get('keys')?.shape[0] ?? 0
    const shape = [length, origin.width]
    const shapes = new Map([
      ['keys', shape],
      ['values', shape],
    ])
    const tensors = finite(readTensors(file, shapes))
    const memory = new AttentionMemory(origin, capacity)
    const [keys = new Float32Array(0), values = new Float32Array(0)] = tensors.values()
    memory.append({ length, keys, values })
    return memory
  }
}

/** @throws StateMismatchError when a memory is of another model or layer than wanted. */
export function expectOrigin(found: MemoryOrigin, wanted: MemoryOrigin): void {
  if (found.layer !== wanted.layer) {
    throw new StateMismatchError(`it is a memory of layer ${found.layer}, and layer ${wanted.layer} reads it here`)
  }
  if (found.model !== wanted.model || found.width !== wanted.width) {
    throw new StateMismatchError('it is a memory of another model: its keys and values were made by other weights')
  }
}

/** The last `most` elements of `old` and then `added`. */
function joined(old: Float32Array, added: Float32Array, most: number): Float32Array<ArrayBuffer> {
  const newest = added.subarray(Math.max(0, added.length - most))
  const kept = old.subarray(Math.max(0, old.length + newest.length - most))
  const all = new Float32Array(kept.length + newest.length)
  all.set(kept)
  all.set(newest, kept.length)
  return all
}
