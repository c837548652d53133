import { z } from 'zod'
import { type DemonstratedEpisode, demonstrationFrom } from '../core/index.ts'
import { RatchetError } from '../errors/index.ts'
import { type JsonlRow, type JsonlSource, readJsonl } from './search/jsonl.ts'
import { MalformedCorpusError } from './search/malformed-corpus-error.ts'

/**
 * Demonstrations from JSON Lines, one a line, in Ratchet's words or in the OpenAI API's: what {@link demonstrationFrom} reads.
 * @throws MalformedCorpusError naming the line that is wrong; nothing is loaded then.
 */
export const demonstrationsFromJsonl = (source: JsonlSource): DemonstratedEpisode[] =>
  demonstrationRows(source).map(({ value }) => value)

/**
 * The same, each with its line.
 * @throws MalformedCorpusError naming the line that is wrong; nothing is loaded then.
 */
export function demonstrationRows(source: JsonlSource): JsonlRow<DemonstratedEpisode>[] {
  const file = 'path' in source ? ` of ${source.path}` : ''
  return readJsonl(source, z.unknown(), 'demonstration').map(({ line, value }) => {
    try {
      return { line, value: demonstrationFrom(value, `Line ${line}${file}, as a demonstration`) }
    } catch (cause) {
      if (!RatchetError.is(cause)) throw cause
      throw new MalformedCorpusError(cause.message, hint, { line, cause })
    }
  })
}

const hint =
  'Correct the line; nothing was loaded. A line is {"messages": […]}, with messages as docs/learn.md shows them or as the OpenAI API has them.'
