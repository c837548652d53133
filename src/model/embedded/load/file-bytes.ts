import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'

/** One read gives at most 2 GiB. */
const pieceBytes = 2 ** 30

/**
 * Bytes of an open file, however far in it they lie.
 * @param ended makes the error for a file that ends before them, at a byte.
 */
export async function bytesAt(
  handle: FileHandle,
  begin: number,
  length: number,
  ended: (at: number) => Error,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  for (let done = 0; done < length; ) {
    const { bytesRead } = await handle.read(bytes, done, Math.min(pieceBytes, length - done), begin + done)
    if (bytesRead === 0) throw ended(begin + done)
    done += bytesRead
  }
  return bytes
}

/** SHA-256 of a whole open file, hexadecimal. */
export async function hashOf(handle: FileHandle): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of handle.createReadStream({ start: 0, autoClose: false, highWaterMark: 2 ** 20 }))
    hash.update(piece as Buffer)
  return hash.digest('hex')
}
