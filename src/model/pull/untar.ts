import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'

const blockBytes = 512

/**
 * The content of one file of a gzipped tar archive, such as an npm package, piece by piece (ustar; POSIX.1-1988). Yields
 * nothing when the archive holds no such file. What it unpacks to is the reader's to bound.
 */
export async function* untarred(archive: string, file: string): AsyncGenerator<Uint8Array> {
  const source = createReadStream(archive, { highWaterMark: 2 ** 20 })
  const unpacked = createGunzip()
  source.on('error', (error) => unpacked.destroy(error))
  source.pipe(unpacked)
  let held: Buffer = Buffer.alloc(0)
  /** Bytes of the current file, and of what pads it to whole blocks, that are still to come. */
  let [content, padding] = [0, 0]
  let wanted = false
  try {
    for await (const piece of unpacked as AsyncIterable<Buffer>) {
      held = held.length === 0 ? piece : Buffer.concat([held, piece])
      for (;;) {
        const taken = held.subarray(0, content)
        if (wanted && taken.length > 0) yield taken
        content -= taken.length
        held = held.subarray(taken.length)
        if (content > 0) break
        if (wanted) return
        const skipped = Math.min(padding, held.length)
        padding -= skipped
        held = held.subarray(skipped)
        if (padding > 0 || held.length < blockBytes) break
        const header = headerOf(held)
        if (header === null) return
        held = held.subarray(blockBytes)
        content = header.size
        padding = (blockBytes - (header.size % blockBytes)) % blockBytes
        wanted = header.name === file
      }
    }
  } finally {
    source.destroy()
    unpacked.destroy()
  }
}

/** A file's name and size; null for the block that ends an archive, and for what is none. */
function headerOf(block: Buffer): { readonly name: string; readonly size: number } | null {
  const text = (from: number, length: number) => block.toString('utf8', from, from + length).replace(/\0.*$/s, '')
  const size = text(124, 12).trim()
  if (text(0, 100) === '' || !/^[0-7]{1,11}$/.test(size)) return null
  const prefix = text(257, 5) === 'ustar' ? text(345, 155) : ''
  return { name: prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`, size: Number.parseInt(size, 8) }
}
