import type { BlobRef, Saved } from './blob-ref.ts'
import type { BlobRepository } from './repository.ts'

/** Keeps what a trainer saved. What its server keeps stays there, and is not copied. */
export const keepSaved = async (blobs: Pick<BlobRepository, 'put'>, saved: Saved): Promise<BlobRef> =>
  saved instanceof Uint8Array ? blobs.put(saved) : saved

/**
 * What was kept, as a trainer or a sampler loads it.
 * @throws StoreError for a blob that is not there.
 */
export const savedAt = async (blobs: Pick<BlobRepository, 'get'>, ref: BlobRef): Promise<Saved> =>
  typeof ref === 'string' ? blobs.get(ref) : ref
