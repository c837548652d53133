import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { createInflateRaw } from 'node:zlib'

/**
 * The content of one file of a zip archive, such as a Python wheel, as a stream. Stored and deflated files are read, of
 * less than 4 GB; what they unpack to is the reader's to bound (APPNOTE.TXT 4.3, 4.4).
 * @returns null when the archive holds no such file, or is none.
 */
export async function unzipped(archive: string, file: string): Promise<Readable | null> {
  const handle = await open(archive)
  try {
    const entry = await findEntry(handle, file)
    if (entry === null) return null
    const local = await bytesAt(handle, entry.offset, localHeaderBytes)
    if (local.readUInt32LE(0) !== localSignature) return null
    const start = entry.offset + localHeaderBytes + local.readUInt16LE(26) + local.readUInt16LE(28)
    if (entry.compressed === 0) return Readable.from([])
    const stored = createReadStream(archive, { start, end: start + entry.compressed - 1, highWaterMark: 2 ** 20 })
    if (entry.method === 0) return stored
    if (entry.method !== 8) return null
    const inflated = createInflateRaw()
    stored.on('error', (error) => inflated.destroy(error))
    return stored.pipe(inflated)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  } finally {
    await handle.close()
  }
}

interface Entry {
  readonly method: number
  readonly compressed: number
  readonly offset: number
}

const localSignature = 0x04034b50
const localHeaderBytes = 30
const entrySignature = 0x02014b50
const entryBytes = 46
const endSignature = 0x06054b50
const endBytes = 22
/** The comment of an archive has at most 65,535 bytes. */
const maxEndBytes = endBytes + 0xffff
const maxDirectoryBytes = 16 * 1024 * 1024

/** Looks through the directory at the archive's end. @throws RangeError where it is cut off. */
async function findEntry(handle: FileHandle, file: string): Promise<Entry | null> {
  const { size } = await handle.stat()
  const tailBytes = Math.min(size, maxEndBytes)
  const tail = await bytesAt(handle, size - tailBytes, tailBytes)
  const end = tail.lastIndexOf(Buffer.from('PK\u0005\u0006', 'latin1'))
  if (end < 0 || tail.readUInt32LE(end) !== endSignature) return null
  const [length, offset] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)]
  if (length > maxDirectoryBytes || offset + length > size) return null
  const directory = await bytesAt(handle, offset, length)
  for (let at = 0; at + entryBytes <= directory.length; ) {
    if (directory.readUInt32LE(at) !== entrySignature) return null
    const nameBytes = directory.readUInt16LE(at + 28)
    const name = directory.toString('utf8', at + entryBytes, at + entryBytes + nameBytes)
    if (name === file)
      return {
        method: directory.readUInt16LE(at + 10),
        compressed: directory.readUInt32LE(at + 20),
        offset: directory.readUInt32LE(at + 42),
      }
    at += entryBytes + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32)
  }
  return null
}

async function bytesAt(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset)
  return buffer.subarray(0, bytesRead)
}
