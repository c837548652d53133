import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Response } from 'undici'
import { ask, type Question } from './ask.ts'
import { type Checksum, fileHash } from './checksum.ts'
import { otherContent, unreachable, unusableAnswer, written } from './failures.ts'
import { type Patience, patiently } from './patiently.ts'

/** A file to fetch. */
export interface Wanted extends Question {
  readonly url: URL
  /** Where it will lie. Its beginning lies beside it, under a name that holds its checksum, until it is whole. */
  readonly path: string
  /** How long it is, where that is known. */
  readonly bytes: number | null
  readonly checksum: Checksum
  /** Told how many bytes of it have come, of how many, where that is known. */
  readonly onBytes?: (come: number, total: number | null) => void
  readonly patience: Patience
}

/** No file of a model is longer: an answer without end must not fill a disk. */
const maxBytes = 200e9

/**
 * Fetches a file whole and as it should be, or not at all. What an earlier try left is gone on with, by `Range`.
 * @throws PullError; what came so far is kept, unless its checksum is wrong.
 */
export async function download(wanted: Wanted): Promise<void> {
  const { path, checksum, patience, signal } = wanted
  if (await isWhole(path, checksum)) return
  const part = `${path}.${checksum.hex.slice(0, 16)}.part`
  await written(part, () => mkdir(dirname(path), { recursive: true }))
  let come = 0
  const onBytes = (bytes: number, total: number | null) => {
    come = bytes
    wanted.onBytes?.(bytes, total)
  }
  await patiently(() => continued({ ...wanted, onBytes }, part), { patience, progress: () => come, signal })
  const found = await fileHash(part, checksum.algorithm)
  if (found !== checksum.hex) {
    await rm(part, { force: true })
    throw otherContent(path, checksum.algorithm, found, checksum.hex)
  }
  await written(path, () => rename(part, path))
}

/** One try: from where the part ends to the end of the file. */
async function continued(wanted: Wanted, part: string): Promise<void> {
  const { url, bytes } = wanted
  const start = (await lengthOf(part)) ?? 0
  if (bytes !== null && start === bytes) return wanted.onBytes?.(bytes, bytes)
  // More than the file has is none of it.
  const from = bytes !== null && start > bytes ? 0 : start
  const range = from > 0 ? { range: `bytes=${from}-` } : {}
  const response = await ask(url, { ...wanted, headers: { ...wanted.headers, ...range } })
  if (response.status === 416) {
    await response.body?.cancel().catch(() => {})
    // All of it is here where its length was not known; anything else shows in its checksum.
    return
  }
  const at = response.status === 206 ? startOf(response, from, url) : 0
  const file = await written(part, () => open(part, at === 0 ? 'w' : 'r+'))
  try {
    await append(response, file, { ...wanted, part, at })
  } finally {
    await file.close()
  }
}

async function append(
  response: Response,
  file: FileHandle,
  { url, bytes, onBytes, part, at, signal }: Wanted & { readonly part: string; readonly at: number },
): Promise<void> {
  const limit = bytes ?? maxBytes
  const length = Number(response.headers.get('content-length') ?? Number.NaN)
  const total = bytes ?? (Number.isNaN(length) ? null : at + length)
  let place = at
  onBytes?.(place, total)
  const pieces = (response.body ?? new ReadableStream<Uint8Array>())[Symbol.asyncIterator]()
  for (;;) {
    const next = await pieces.next().catch((cause: unknown) => {
      signal?.throwIfAborted()
      throw unreachable(url, cause)
    })
    if (next.done === true) break
    const piece: Uint8Array = next.value
    if (place + piece.length > limit) {
      await pieces.return?.()
      throw unusableAnswer(url, `it sends more than the ${limit} bytes of the file`)
    }
    await written(part, () => writeAll(file, piece, place))
    place += piece.length
    onBytes?.(place, total)
  }
  if (bytes !== null && place < bytes) throw unreachable(url, new Error(`it ended at byte ${place} of ${bytes}`))
}

async function writeAll(file: FileHandle, piece: Uint8Array, place: number): Promise<void> {
  for (let done = 0; done < piece.length; )
    done += (await file.write(piece, done, piece.length - done, place + done)).bytesWritten
}

/** Where an answer to a range begins. */
function startOf(response: Response, from: number, url: URL): number {
  const start = /^bytes (\d{1,15})-/.exec(response.headers.get('content-range') ?? '')?.[1]
  if (Number(start) === from) return from
  throw unusableAnswer(url, `it was asked for bytes from ${from}, and sends others`)
}

/** Whether a file is there, and as it should be. */
export async function isWhole(path: string, { algorithm, hex }: Checksum): Promise<boolean> {
  return (await lengthOf(path)) !== null && (await fileHash(path, algorithm)) === hex
}

async function lengthOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size
  } catch {
    return null
  }
}
