import { z } from 'zod'
import { BlobRef } from './blob-ref.ts'
import { contentHash } from './hash.ts'
import { RunId, VersionId } from './id.ts'
import { Json } from './json.ts'

/**
 * The name of a Kind: what sort of value a Parameter has. An open set: see {@link Kind}.
 */
export const ParameterKind = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/, 'a lower-case letter, then lower-case letters, digits or -')
export type ParameterKind = z.infer<typeof ParameterKind>

/** The name a Parameter has in its agent. Values are kept by it in objects, so that what every object has is no name. */
export const ParameterName = z
  .string()
  .regex(/^[A-Za-z][\w-]{0,63}$/, 'a letter, then letters, digits, _ or -')
  .refine((name) => !(name in Object.prototype), 'a name that no object has of itself')
export type ParameterName = z.infer<typeof ParameterName>

/** The value of a `weights` Parameter. `adapter: null` is the base model exactly. */
export const WeightsValue = z.strictObject({
  kind: z.literal('weights'),
  /** The base model's reference, as its loader understands it. */
  base: z.string().min(1),
  /** Content hash of the base model: a reference keeps its name when the files behind it change. */
  baseHash: z.string().min(1),
  adapter: BlobRef.nullable(),
})
export type WeightsValue = z.infer<typeof WeightsValue>

/** The value of a `text` Parameter. */
export const TextValue = z.strictObject({ kind: z.literal('text'), text: z.string() })
export type TextValue = z.infer<typeof TextValue>

const flat: ReadonlySet<string> = new Set([WeightsValue.shape.kind.value, TextValue.shape.kind.value])

/** The value of any other kind, which its module reads: stores and releases keep it whole. */
export const OwnValue = z.strictObject({
  kind: ParameterKind.refine((kind) => !flat.has(kind), 'a value of this kind has another form'),
  value: Json,
})
export type OwnValue = z.infer<typeof OwnValue>

/** One value of a Parameter, as it is stored. */
export const ParameterValue = z.union([WeightsValue, TextValue, OwnValue])
export type ParameterValue = z.infer<typeof ParameterValue>

/** A stored value as one of a `weights` Parameter; `null` for another kind's. */
export const asWeights = (value: ParameterValue | undefined): WeightsValue | null =>
  value && 'base' in value ? value : null

/** A stored value as one of a `text` Parameter; `null` for another kind's. */
export const asText = (value: ParameterValue | undefined): TextValue | null => (value && 'text' in value ? value : null)

/** One immutable value of a Parameter, addressed by content. Minted when proposed. */
export const Version = z.strictObject({
  id: VersionId,
  parameter: ParameterName,
  value: ParameterValue,
  /** Versions this one was derived from, nearest first; empty for an initial value. */
  parents: z.array(VersionId),
  /** The run that made it; `null` for an initial value. */
  run: RunId.nullable(),
})
export type Version = z.infer<typeof Version>

/** Makes the Version of a value: its id is the hash of parameter and value, so equal values are one Version. */
export function mintVersion(
  parameter: ParameterName,
  value: ParameterValue,
  origin: { readonly parents: readonly VersionId[]; readonly run: RunId | null },
): Version {
  const id = VersionId.parse(contentHash({ parameter, value }))
  return { id, parameter, value, parents: [...origin.parents], run: origin.run }
}
