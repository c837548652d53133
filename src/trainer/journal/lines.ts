import { type FileHandle, open } from 'node:fs/promises'

/** Bytes that are read or written at once: a file may be larger than any string or buffer. */
const pieceBytes = 1024 * 1024

/**
 * Reads a file line by line; one that is not there has none.
 * @param take told of each line that has an end.
 * @returns the bytes of the lines that have one, and of the whole file.
 */
export async function readLines(
  path: string,
  take: (line: string) => void,
): Promise<{ readonly whole: number; readonly all: number }> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (file === null) return { whole: 0, all: 0 }
  try {
    let [whole, all] = [0, 0]
    let begun: Buffer[] = []
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes)
      if (bytesRead === 0) return { whole, all }
      const piece = buffer.subarray(0, bytesRead)
      let from = 0
      for (let end = piece.indexOf(0x0a); end >= 0; end = piece.indexOf(0x0a, from)) {
        begun.push(piece.subarray(from, end))
        take(begun.length === 1 ? piece.toString('utf8', from, end) : Buffer.concat(begun).toString('utf8'))
        begun = []
        from = end + 1
        whole = all + from
      }
      if (from < bytesRead) begun.push(piece.subarray(from))
      all += bytesRead
    }
  } finally {
    await file.close()
  }
}

/** Writes lines, each with its end, at the end of a file. @returns how many bytes they have. */
export async function writeLines(file: FileHandle, lines: Iterable<string>): Promise<number> {
  let [bytes, held] = [0, 0]
  let pieces: Buffer[] = []
  const write = async () => {
    await file.appendFile(Buffer.concat(pieces))
    bytes += held
    held = 0
    pieces = []
  }
  for (const line of lines) {
    const piece = Buffer.from(line)
    pieces.push(piece)
    held += piece.length
    if (held >= pieceBytes) await write()
  }
  if (held > 0) await write()
  return bytes
}
