import { z } from 'zod'
import { describedBy, descriptionIn } from '../load/description.ts'
import { toFloat32 } from '../load/floats.ts'
import { type StoredTensor, readSafetensors, writeSafetensors } from '../load/safetensors.ts'
import { type Datastore, checkDatastore, mostEntries } from './datastore.ts'
import { InvalidDatastoreError } from './invalid-datastore-error.ts'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const Metadata = z.strictObject({
  kind: z.literal('datastore'),
  origin: z.strictObject({ model: sha256, adapter: sha256.nullable() }),
})

/** The bytes of a datastore: 4 · (width + 1) an entry, and a header. Equal datastores give equal bytes. */
export function writeDatastore({ keys, tokens, width, origin }: Datastore): Uint8Array {
  const { model, adapter } = origin
  const tensors = new Map<string, { shape: readonly number[]; data: Float32Array | Int32Array }>([
    ['keys', { shape: [tokens.length, width], data: keys }],
    ['tokens', { shape: [tokens.length], data: tokens }],
  ])
  return writeSafetensors(tensors, describedBy({ kind: 'datastore', origin: { model, adapter } }))
}

/**
 * Reads what {@link writeDatastore} wrote. Nothing is trusted: sizes are checked before anything is copied.
 * @throws MalformedSafetensorsError when the bytes are not safetensors.
 * @throws InvalidDatastoreError when they are not a datastore, or one that cannot be searched.
 */
export function readDatastore(bytes: Uint8Array): Datastore {
  const file = readSafetensors(bytes)
  const described = Metadata.safeParse(descriptionIn(file))
  if (!described.success) throw new InvalidDatastoreError('its metadata does not describe one.')
  const { tensors } = file
  const [keys, tokens] = [tensors.get('keys'), tensors.get('tokens')]
  if (keys === undefined || tokens === undefined || tensors.size !== 2)
    throw new InvalidDatastoreError('the file holds other tensors than "keys" and "tokens".')
  const [entries, width] = shapeOf(keys, tokens)
  if (entries > mostEntries)
    throw new InvalidDatastoreError(`it has ${entries} entries, and at most ${mostEntries} are searched.`)
  const read = {
    keys: toFloat32('keys', keys),
    tokens: new Int32Array(new Uint8Array(tokens.data).buffer),
    width,
    origin: described.data.origin,
  }
  checkDatastore(read)
  return read
}

function shapeOf(keys: StoredTensor, tokens: StoredTensor): readonly [entries: number, width: number] {
  const [entries, width] = keys.shape
  const fits = keys.shape.length === 2 && tokens.shape.length === 1 && tokens.shape[0] === entries
  if (keys.dtype !== 'F32' || tokens.dtype !== 'I32' || entries === undefined || width === undefined || !fits)
    throw new InvalidDatastoreError(
      `keys are ${keys.dtype} [${keys.shape.join(', ')}] and tokens ${tokens.dtype} [${tokens.shape.join(', ')}], and F32 [n, width] and I32 [n] are read.`,
    )
  return [entries, width]
}
