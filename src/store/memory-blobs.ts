import { BlobHash, sha256 } from '../core/index.ts'
import type { BlobStorage } from './blobs.ts'
import { MissingBlobError } from './errors/index.ts'

/** Blobs that go with the process. */
export function memoryBlobs(): BlobStorage {
  const blobs = new Map<string, Uint8Array>()
  return {
    async put(bytes) {
      const hash = BlobHash.parse(sha256(bytes))
      if (!blobs.has(hash)) blobs.set(hash, Uint8Array.from(bytes))
      return hash
    },
    async get(hash) {
      const bytes = blobs.get(hash)
      if (!bytes) throw new MissingBlobError(hash)
      return Uint8Array.from(bytes)
    },
    async remove(hash) {
      blobs.delete(hash)
    },
  }
}
