import { readFileSync } from 'node:fs'
import type { z } from 'zod'
import { MalformedCorpusError } from './malformed-corpus-error.ts'
import { printable } from '../printable.ts'

/** JSON Lines: a file, or its text. */
export type JsonlSource = { readonly path: string } | { readonly text: string }

/** One checked line of a JSONL source; `line` counts from 1, blank lines included. */
export interface JsonlRow<T> {
  readonly line: number
  readonly value: T
}

/**
 * Reads and checks every line; blank lines are skipped.
 * @throws MalformedCorpusError naming the first bad line; when the file cannot be read; when it holds no line at all.
 */
export function readJsonl<T>(source: JsonlSource, schema: z.ZodType<T>, what: string): JsonlRow<T>[] {
  const text = 'text' in source ? source.text : readText(source.path)
  const name = 'path' in source ? source.path : null
  const rows: JsonlRow<T>[] = []
  for (const [index, content] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (content.trim() !== '') rows.push({ line: index + 1, value: readLine(content, index + 1, name, schema, what) })
  }
  if (rows.length > 0) return rows
  throw new MalformedCorpusError(
    `${name ?? 'The text'} holds no ${what}.`,
    `Write one JSON object a line, one ${what} each.`,
  )
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new MalformedCorpusError(`${path} cannot be read.`, 'Check the path and its permissions.', { cause })
  }
}

function readLine<T>(content: string, line: number, file: string | null, schema: z.ZodType<T>, what: string): T {
  const where = file === null ? `Line ${line}` : `Line ${line} of ${file}`
  let value: unknown
  try {
    value = JSON.parse(content)
  } catch (cause) {
    const message = `${where} is not JSON: ${printable(content)}`
    throw new MalformedCorpusError(message, `Write one JSON object a line, one ${what} each.`, { line, cause })
  }
  const checked = schema.safeParse(value)
  if (checked.success) return checked.data
  const problem = checked.error.issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ')
  throw new MalformedCorpusError(`${where} is not a ${what}: ${problem}.`, 'Correct the line; nothing was loaded.', {
    line,
    cause: checked.error,
  })
}

/** @throws MalformedCorpusError naming both lines when two rows have the same `field`. */
export function refuseDuplicates<T>(rows: readonly JsonlRow<T>[], field: string, valueOf: (value: T) => string): void {
  const seen = new Map<string, number>()
  for (const { line, value } of rows) {
    const key = valueOf(value)
    const first = seen.get(key)
    if (first !== undefined) {
      const message = `Lines ${first} and ${line} have the same ${field} "${printable(key)}".`
      throw new MalformedCorpusError(message, `Give every line its own ${field}; nothing was loaded.`, { line })
    }
    seen.set(key, line)
  }
}
