import { type FileHandle, open } from 'node:fs/promises'
import { RatchetError } from '../../../errors/index.ts'
import { bytesAt, hashOf } from './file-bytes.ts'
import { ifThere, unreadable } from './files.ts'
import { MalformedSafetensorsError } from './malformed-safetensors-error.ts'
import { headerEnd, lengthBytes, type PlacedTensor, readLayout, type StoredTensor } from './safetensors.ts'

/** A safetensors file on disk, of any size. */
export interface SafetensorsFile {
  readonly tensors: ReadonlyMap<string, PlacedTensor>
  /** A tensor's bytes: nothing else of the file is in memory. */
  read(tensor: PlacedTensor): Promise<StoredTensor>
  /** SHA-256 of the whole file, hexadecimal. */
  hash(): Promise<string>
  close(): Promise<void>
}

/**
 * Opens a file and reads its header; `null` when it is not there.
 * @throws MalformedSafetensorsError, with the file's name, for what is no safetensors file; MalformedModelError when it cannot
 * be read.
 */
export async function openSafetensors(path: string): Promise<SafetensorsFile | null> {
  const reading = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof MalformedSafetensorsError)
        throw new MalformedSafetensorsError(error.problem, { file: path, cause: error })
      throw RatchetError.is(error) ? error : unreadable(path, error)
    }
  }
  const handle = await ifThere(path, () => open(path))
  if (handle === null) return null
  try {
    const tensors = await reading(() => placed(handle))
    return {
      tensors,
      read: ({ dtype, shape, begin, end }) =>
        reading(async () => ({ dtype, shape, data: await bytesAt(handle, begin, end - begin, ended) })),
      hash: () => reading(() => hashOf(handle)),
      close: () => handle.close(),
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function placed(handle: FileHandle): Promise<SafetensorsFile['tensors']> {
  const { size } = await handle.stat()
  const end = headerEnd(await bytesAt(handle, 0, Math.min(size, lengthBytes), ended), size)
  return readLayout(await bytesAt(handle, lengthBytes, end - lengthBytes, ended), size).tensors
}

const ended = (at: number) => new MalformedSafetensorsError(`it ended at byte ${at} while it was read`)
