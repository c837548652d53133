import { expect, it } from 'vitest'
import { BlobHash, sha256 } from '../../core/index.ts'
import { BlobShelf } from './blob-shelf.ts'

it('keeps what was put until it is let go of, and what is named for as long as it is', async () => {
  const files = new Map<BlobHash, Uint8Array>()
  const named = new Set<BlobHash>()
  const shelf = new BlobShelf(
    {
      async put(bytes) {
        const hash = BlobHash.parse(sha256(bytes))
        files.set(hash, bytes)
        return hash
      },
      get: async (hash) => files.get(hash) ?? Promise.reject(new Error('gone')),
      async remove(hash) {
        files.delete(hash)
      },
    },
    (hash) => named.has(hash),
  )
  const bytes = Uint8Array.of(1, 2, 3)
  const hash = await shelf.put(bytes)
  await shelf.put(bytes)
  await shelf.discard([hash])
  shelf.release([hash])
  await shelf.discard([hash])
  expect(await shelf.get(hash)).toEqual(bytes)
  named.add(hash)
  shelf.release([hash])
  await shelf.discard([hash])
  expect(files.size).toBe(1)
  named.delete(hash)
  await shelf.discard([hash])
  expect(files.size).toBe(0)
})
