import { open } from 'node:fs/promises'
import { bytesAt, hashOf } from '../file-bytes.ts'
import { MalformedModelError } from '../malformed-model-error.ts'
import { dequantized } from './element-type.ts'
import { type GgufHeader, type GgufTensor, maxHeaderBytes, readHeader } from './header.ts'
import { MalformedGgufError } from './malformed-gguf-error.ts'

/** An open GGUF file. Its tensors are read one by one: beside their f32 values, only one of them is in memory at a time. */
export interface GgufFile extends GgufHeader {
  /** A tensor's numbers, as a fresh f32 array. */
  values(name: string, tensor: GgufTensor): Promise<Float32Array>
  /** SHA-256 of the whole file, hexadecimal. */
  hash(): Promise<string>
}

/**
 * Opens a file for as long as `use` takes.
 * @throws MalformedGgufError, with the file's name, for what is no GGUF file; MalformedModelError when it cannot be read.
 */
export async function withGgufFile<T>(path: string, use: (file: GgufFile) => Promise<T>): Promise<T> {
  const handle = await open(path).catch((cause: unknown) => {
    throw new MalformedModelError(`${path} cannot be read (${String(cause)}).`, cause)
  })
  try {
    const { size } = await handle.stat()
    const header = readHeader(await bytesAt(handle, 0, Math.min(size, maxHeaderBytes), ended), size)
    return await use({
      ...header,
      values: async (name, tensor) =>
        dequantized(name, tensor.type, await bytesAt(handle, tensor.begin, tensor.end - tensor.begin, ended)),
      hash: () => hashOf(handle),
    })
  } catch (error) {
    if (error instanceof MalformedGgufError) throw new MalformedGgufError(error.problem, { file: path, cause: error })
    throw error
  } finally {
    await handle.close()
  }
}

const ended = (at: number) => new MalformedGgufError(`it ended at byte ${at} while it was read`)
