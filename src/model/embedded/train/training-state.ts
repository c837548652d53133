import { z } from 'zod'
import type { TransformerConfig } from '../transformer/config.ts'
import { type Trained, trainedShapes } from '../transformer/trained.ts'
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
})

/** The arrays of a state, by the prefix of their tensors' names. */
const always = ['', 'adam.m.', 'adam.v.'] as const
const whereHeld = ['importance.', 'anchor.'] as const

/** Trained weights, Adam's moments and the step, and what is held on to, as safetensors bytes. */
export function writeTrainingState(
  config: TransformerConfig,
  trained: Trained,
  { values, m, v, step }: ShardState,
  held: HeldAnchors | null,
): Uint8Array {
  const arrays = new Map([
    ['', values],
    ['adam.m.', m],
    ['adam.v.', v],
  ])
  const metadata = { kind: 'training-state', step, trained }
  if (held === null) return writeArrays(trainedShapes(config, trained), arrays, metadata)
  const { importance, values: anchor, strength, spread } = held
  arrays.set('importance.', importance).set('anchor.', anchor)
  return writeArrays(trainedShapes(config, trained), arrays, { ...metadata, held: { strength, spread } })
}

/**
 * Reads what {@link writeTrainingState} wrote, for a trainer of the same kind.
 * @throws MalformedSafetensorsError, StateMismatchError
 */
export function readTrainingState(
  config: TransformerConfig,
  trained: Trained,
  bytes: Uint8Array,
): { readonly state: ShardState; readonly held: HeldAnchors | null } {
  const file = readSafetensors(bytes)
  const { step, held, ...saved } = readMetadata(file, StateMetadata, 'a training state')
  expectSameTrained(saved.trained, trained)
  const array = readArrays(file, trainedShapes(config, trained), held ? [...always, ...whereHeld] : always)
  return {
    state: { values: array(''), m: array('adam.m.'), v: array('adam.v.'), step },
    held: held ? { ...held, importance: array('importance.'), values: array('anchor.') } : null,
  }
}
