import { z } from 'zod'
import type { TransformerConfig } from '../transformer/config.ts'
import { type Trained, trainedShapes } from '../transformer/trained.ts'
import { readSafetensors } from '../load/safetensors.ts'
import { readMetadata } from './adapter-file.ts'
import type { Anchor } from './anchors.ts'
import { StateMismatchError } from './state-mismatch-error.ts'
import { SavedTrained, expectSameTrained, readArrays, writeArrays } from './trained-file.ts'

const AnchorMetadata = z.strictObject({ kind: z.literal('anchor'), trained: SavedTrained })

/** An anchor as safetensors bytes: θ* under the trained tensors' own names, F under `importance.` and the name. */
export function writeAnchor(config: TransformerConfig, trained: Trained, { importance, values }: Anchor): Uint8Array {
  const arrays = new Map([
    ['', values],
    ['importance.', importance],
  ])
  return writeArrays(trainedShapes(config, trained), arrays, { kind: 'anchor', trained })
}

/**
 * Reads what {@link writeAnchor} wrote, for a trainer of the same kind.
 * @throws MalformedSafetensorsError, StateMismatchError
 */
export function readAnchor(config: TransformerConfig, trained: Trained, bytes: Uint8Array): Anchor {
  const file = readSafetensors(bytes)
  expectSameTrained(readMetadata(file, AnchorMetadata, 'an anchor').trained, trained)
  const array = readArrays(file, trainedShapes(config, trained), ['', 'importance.'])
  const anchor = { values: array(''), importance: array('importance.') }
  if (!anchor.values.every(Number.isFinite) || !anchor.importance.every((f) => f >= 0 && Number.isFinite(f))) {
    throw new StateMismatchError('an importance is negative or not finite')
  }
  return anchor
}
