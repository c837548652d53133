import { z } from 'zod'
import type { TransformerConfig } from '../transformer/config.ts'
import { shapesWithHead } from '../transformer/auxiliary.ts'
import type { Trained } from '../transformer/trained.ts'
import { readSafetensors } from '../load/safetensors.ts'
import { readMetadata } from './adapter-file.ts'
import type { HeldAnchors } from './anchors.ts'
import type { ShardState } from './shard.ts'
import { SavedTrained, expectSameTrained, readArrays, writeArrays } from './trained-file.ts'

const StateMetadata = z.strictObject({
  kind: z.literal('training-state'),
  step: z.int().nonnegative(),
  trained: SavedTrained,
  /** Absent where nothing is held. */
  held: z.strictObject({ strength: z.number().nonnegative(), spread: z.number().nonnegative() }).exactOptional(),
  /** Outputs of the auxiliary head; absent without one. */
  auxiliary: z.int().positive().exactOptional(),
})

/** The arrays of a state, by the prefix of their tensors' names. */
const always = ['', 'adam.m.', 'adam.v.'] as const
const whereHeld = ['importance.', 'anchor.'] as const

/** What a state has beside values and moments. */
export interface BesideState {
  readonly held: HeldAnchors | null
  /** Of the auxiliary head, whose values and moments come last; 0: there is none. */
  readonly outputs: number
}

/** Trained weights, Adam's moments and the step, and what is held on to, as safetensors bytes. */
export function writeTrainingState(
  config: TransformerConfig,
  trained: Trained,
  { values, m, v, step }: ShardState,
  { held, outputs }: BesideState,
): Uint8Array {
  const arrays = new Map([
    ['', values],
    ['adam.m.', m],
    ['adam.v.', v],
  ])
  const metadata = { kind: 'training-state', step, trained, ...(outputs > 0 && { auxiliary: outputs }) }
  const shapes = shapesWithHead(config, trained, outputs)
  if (held === null) return writeArrays(shapes, arrays, metadata)
  const { importance, values: anchor, strength, spread } = held
  // Nothing holds on to a head: there are zeros in its place.
  const padded = (array: Float32Array) => {
    const all = new Float32Array(values.length)
    all.set(array)
    return all
  }
  arrays.set('importance.', padded(importance)).set('anchor.', padded(anchor))
  return writeArrays(shapes, arrays, { ...metadata, held: { strength, spread } })
}

/**
 * Reads what {@link writeTrainingState} wrote, for a trainer of the same kind.
 * @throws MalformedSafetensorsError, StateMismatchError
 */
export function readTrainingState(
  config: TransformerConfig,
  trained: Trained,
  bytes: Uint8Array,
): BesideState & { readonly state: ShardState } {
  const file = readSafetensors(bytes)
  const { step, held, auxiliary: outputs = 0, ...saved } = readMetadata(file, StateMetadata, 'a training state')
  expectSameTrained(saved.trained, trained)
  const shapes = shapesWithHead(config, trained, outputs)
  const array = readArrays(file, shapes, held ? [...always, ...whereHeld] : always)
  const kept = array('').length - outputs * config.hiddenSize
  return {
    state: { values: array(''), m: array('adam.m.'), v: array('adam.v.'), step },
    held: held
      ? { ...held, importance: array('importance.').slice(0, kept), values: array('anchor.').slice(0, kept) }
      : null,
    outputs,
  }
}
