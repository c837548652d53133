import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'

/** What the content of a file must hash to, in hexadecimal. `git` is the SHA-1 that git gives a blob: of its length, too. */
export interface Checksum {
  readonly algorithm: 'sha256' | 'sha512' | 'git'
  readonly hex: string
}

/** The hash of a whole file. */
export async function fileHash(path: string, algorithm: Checksum['algorithm']): Promise<string> {
  const hash = await begun(path, algorithm)
  for await (const piece of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(piece as Buffer)
  return hash.digest('hex')
}

async function begun(path: string, algorithm: Checksum['algorithm']): Promise<Hash> {
  if (algorithm !== 'git') return createHash(algorithm)
  return createHash('sha1').update(`blob ${(await stat(path)).size}\0`)
}
