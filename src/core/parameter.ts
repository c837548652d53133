import { z } from 'zod'
import { BlobRef } from './blob-ref.ts'
import { contentHash } from './hash.ts'
import { RunId, VersionId } from './id.ts'
import { Json } from './json.ts'

/**
 * What a learnable value is: an adapter on a base model, a prompt, an executable tool with its tests, recalled cases,
 * a small policy over options, or the arrangement of the others.
 */
export const ParameterKind = z.enum(['weights', 'text', 'skill', 'memory', 'choice', 'program'])
export type ParameterKind = z.infer<typeof ParameterKind>

/** The name a Parameter has in its agent. */
export const ParameterName = z.string().regex(/^[A-Za-z][\w-]{0,63}$/, 'a letter, then letters, digits, _ or -')
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

/** The value of a kind whose room is not built yet: kept whole, so that stores and releases need not change for it. */
const OpaqueValue = z.strictObject({ kind: z.enum(['skill', 'memory', 'choice', 'program']), value: Json })

/** One value of a Parameter. */
export const ParameterValue = z.union([WeightsValue, TextValue, OpaqueValue])
export type ParameterValue = z.infer<typeof ParameterValue>
/** The values that a Parameter of one kind takes. */
export type ValueOf<K extends ParameterKind> = Extract<ParameterValue, { kind: K }>

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
