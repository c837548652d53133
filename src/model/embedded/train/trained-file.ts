import { z } from 'zod'
import { present } from '../../../errors/index.ts'
import { expectSameMemory } from '../memory/memory-adapter.ts'
import { MemoryConfig } from '../memory/memory-config.ts'
import type { Trained } from '../transformer/trained.ts'
import { describedBy } from '../load/description.ts'
import { type Safetensors, writeSafetensors } from '../load/safetensors.ts'
import { readTensors } from './adapter-file.ts'
import { FlatTensors, flatten } from './flat-tensors.ts'
import { LoraConfig } from './lora.ts'
import { SoftPromptConfig } from './soft-prompt.ts'
import { StateMismatchError } from './state-mismatch-error.ts'
import { expectSameLength, expectSameLora } from './trained-weights.ts'

type Shapes = ReadonlyMap<string, readonly number[]>

/** What was trained, as a file's metadata tells it. */
export const SavedTrained = z.discriminatedUnion('kind', [
  LoraConfig.extend({ kind: z.literal('lora') }),
  z.strictObject({ kind: z.literal('full') }),
  SoftPromptConfig.extend({ kind: z.literal('prompt') }),
  MemoryConfig.extend({ kind: z.literal('memory') }),
])

/** @throws StateMismatchError when what was saved is of another kind of training, rank, alpha, set of targets or length. */
export function expectSameTrained(saved: Trained, wanted: Trained): void {
  if (saved.kind === 'lora' && wanted.kind === 'lora') expectSameLora(saved, wanted)
  else if (saved.kind === 'prompt' && wanted.kind === 'prompt') expectSameLength(saved, wanted)
  else if (saved.kind === 'memory' && wanted.kind === 'memory') expectSameMemory(saved, wanted)
  else if (saved.kind !== wanted.kind) {
    throw new StateMismatchError(`they are of ${saved.kind} training, and this trainer is ${wanted.kind}`)
  }
}

/** Several flat arrays over the same tensors as one file: a tensor's name is its array's prefix and its own name. */
export function writeArrays(
  shapes: Shapes,
  arrays: ReadonlyMap<string, Float32Array>,
  metadata: Record<string, unknown>,
): Uint8Array {
  const entries = [...arrays].flatMap(([prefix, values]) => {
    const tensors = new FlatTensors(shapes, values)
    return [...shapes].map(([name, shape]) => [prefix + name, { shape, data: tensors.view(name) }] as const)
  })
  return writeSafetensors(new Map(entries), describedBy(metadata))
}

/**
 * The arrays of these prefixes, by prefix.
 * @throws StateMismatchError when a tensor is missing, of another shape, or not among them.
 */
export function readArrays<Prefix extends string>(
  file: Safetensors,
  shapes: Shapes,
  prefixes: readonly Prefix[],
): (prefix: Prefix) => Float32Array {
  const prefixed = prefixes.flatMap((prefix) => [...shapes].map(([name, shape]) => [prefix + name, shape] as const))
  const tensors = readTensors(file, new Map(prefixed))
  return (prefix) =>
    flatten(shapes, new Map([...shapes.keys()].map((name) => [name, present(tensors.get(prefix + name), name)])))
}
