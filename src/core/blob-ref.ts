import { z } from 'zod'

/** SHA-256 of bytes kept in the store's blobs. */
export const BlobHash = z.string().regex(/^[0-9a-f]{64}$/)
export type BlobHash = z.infer<typeof BlobHash>

/** The path by which a trainer's server knows what it keeps, as `tinker://run/weights/name`. */
export const TrainerPath = z.strictObject({ at: z.literal('trainer'), uri: z.string().min(1).max(2_048) }).readonly()
export type TrainerPath = z.infer<typeof TrainerPath>

/** Where that is which a trainer saved: in the store's blobs, or at the trainer's server. */
export const BlobRef = z.union([BlobHash, TrainerPath])
export type BlobRef = z.infer<typeof BlobRef>

/** What a trainer saved: bytes to keep (safetensors), or the path under which its server keeps them. */
export type Saved = Uint8Array | TrainerPath

/** A text for each place: equal references have equal keys. */
export const blobKey = (ref: BlobRef): string => (typeof ref === 'string' ? ref : ref.uri)
