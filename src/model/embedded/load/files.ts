import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { MalformedModelError } from './malformed-model-error.ts'

/** The bytes of a file in the folder; null when it is not there. */
export async function readBytes(folder: string, file: string): Promise<Uint8Array | null> {
  const path = join(folder, file)
  return ifThere(path, () => readFile(path))
}

/**
 * What is done with a file; null when it is not there.
 * @throws MalformedModelError when it cannot be read.
 */
export async function ifThere<T>(path: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw unreadable(path, cause)
  }
}

/** A file that cannot be read, with the system's code. */
export const unreadable = (path: string, cause: unknown) =>
  new MalformedModelError(`${path} cannot be read (${codeOf(cause)}).`, cause)

const codeOf = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)

/** The text of a file in the folder; null when it is not there. */
export async function readText(folder: string, file: string): Promise<string | null> {
  const bytes = await readBytes(folder, file)
  return bytes === null ? null : new TextDecoder().decode(bytes)
}

/** The parsed content of a JSON file in the folder; null when it is not there. */
export async function readJson(folder: string, file: string): Promise<unknown> {
  const text = await readText(folder, file)
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MalformedModelError(`${join(folder, file)} is not JSON.`, cause)
  }
}

/** Whether a file or a folder lies at a path. */
export const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
