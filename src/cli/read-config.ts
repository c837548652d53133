import { readFile } from 'node:fs/promises'
import type { z } from 'zod'
import { parseInput } from '../core/index.ts'
import { InputError } from '../errors/index.ts'

/**
 * Reads a JSON configuration file; without one, every key has its default.
 * @param documentation the page that lists its keys.
 * @throws InputError when it cannot be read, is not JSON, or is not what the schema says.
 */
export async function readConfig<S extends z.ZodType>(
  schema: S,
  path: string | undefined,
  documentation: string,
): Promise<z.output<S>> {
  if (path === undefined) return parseInput(schema, {}, 'the configuration')
  let given: unknown
  try {
    // Editors on Windows put a byte order mark before it.
    given = JSON.parse((await readFile(path, 'utf8')).replace(/^\uFEFF/, ''))
  } catch (cause) {
    throw new InputError({
      code: 'input/unreadable-config',
      message: `The configuration file ${path} ${cause instanceof SyntaxError ? 'is not JSON' : 'cannot be read'}.`,
      hint: `Give the path of a JSON file; ${documentation} lists its keys.`,
      cause,
    })
  }
  return parseInput(schema, given, path)
}
