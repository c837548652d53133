import { z } from 'zod'
import { present } from '../../../errors/index.ts'
import type { LlamaConfig } from '../llama/config.ts'
import { type Trained, trainedShapes } from '../llama/training-graph.ts'
import { readSafetensors, writeSafetensors } from '../load/safetensors.ts'
import { readMetadata, readTensors } from './adapter-file.ts'
import { FlatTensors, flatten } from './flat-tensors.ts'
import { LoraConfig } from './lora.ts'
import type { ShardState } from './shard.ts'
import { StateMismatchError } from './state-mismatch-error.ts'
import { expectSameLora } from './trained-weights.ts'

const StateMetadata = z.strictObject({
  kind: z.literal('training-state'),
  step: z.int().nonnegative(),
  trained: z.discriminatedUnion('kind', [
    LoraConfig.extend({ kind: z.literal('lora') }),
    z.strictObject({ kind: z.literal('full') }),
  ]),
})

/** The three arrays of a state, by the prefix of their tensors' names. */
const parts = { values: '', m: 'adam.m.', v: 'adam.v.' } as const

/** Trained weights, Adam's moments and the step, as safetensors bytes. */
export function writeTrainingState(config: LlamaConfig, trained: Trained, state: ShardState): Uint8Array {
  const shapes = trainedShapes(config, trained)
  const entries = (['values', 'm', 'v'] as const).flatMap((part) => {
    const tensors = new FlatTensors(shapes, state[part])
    return [...shapes].map(([name, shape]) => [parts[part] + name, { shape, data: tensors.view(name) }] as const)
  })
  const metadata = { kind: 'training-state', step: state.step, trained }
  return writeSafetensors(new Map(entries), { ratchet: JSON.stringify(metadata) })
}

/**
 * Reads what {@link writeTrainingState} wrote, for a trainer of the same kind.
 * @throws MalformedSafetensorsError, StateMismatchError
 */
export function readTrainingState(config: LlamaConfig, trained: Trained, bytes: Uint8Array): ShardState {
  const file = readSafetensors(bytes)
  const metadata = readMetadata(file, StateMetadata, 'a training state')
  expectSameKind(metadata.trained, trained)
  const shapes = trainedShapes(config, trained)
  const prefixed = Object.values(parts).flatMap((prefix) =>
    [...shapes].map(([name, shape]) => [prefix + name, shape] as const),
  )
  const tensors = readTensors(file, new Map(prefixed))
  const flat = (prefix: string) =>
    flatten(shapes, new Map([...shapes.keys()].map((name) => [name, present(tensors.get(prefix + name), name)])))
  return { values: flat(parts.values), m: flat(parts.m), v: flat(parts.v), step: metadata.step }
}

function expectSameKind(saved: Trained, wanted: Trained): void {
  if (saved.kind === 'lora' && wanted.kind === 'lora') expectSameLora(saved, wanted)
  else if (saved.kind !== wanted.kind) {
    throw new StateMismatchError(`they are of ${saved.kind} training, and this trainer is ${wanted.kind}`)
  }
}
