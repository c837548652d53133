import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MalformedModelError } from './malformed-model-error.ts'

/** The bytes of a file in the folder; null when it is not there. */
export async function readBytes(folder: string, file: string): Promise<Uint8Array | null> {
  const path = join(folder, file)
  try {
    return await readFile(path)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : null
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new MalformedModelError(`${path} cannot be read (${String(code)}).`, cause)
  }
}

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
