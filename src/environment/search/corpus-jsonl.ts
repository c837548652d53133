import { z } from 'zod'
import { Corpus, Document, type IndexedPart } from './corpus.ts'
import { type JsonlSource, readJsonl, refuseDuplicates } from './jsonl.ts'

const { id, title, lines } = Document.shape
const DocumentLine = z
  .strictObject({ id, title, lines: lines.optional(), text: z.string().min(1).optional() })
  .refine((row) => (row.lines === undefined) !== (row.text === undefined), 'needs either "lines" or "text"')

/**
 * A corpus from JSON Lines, one document a line: `{"id", "title", "lines": […]}` or `{"id", "title", "text": "…"}`.
 * @throws MalformedCorpusError naming the line that is wrong; nothing is loaded then.
 */
export function corpusFromJsonl(source: JsonlSource, indexed: IndexedPart = 'title-and-text'): Corpus {
  const rows = readJsonl(source, DocumentLine, 'document')
  refuseDuplicates(rows, 'id', (row) => row.id)
  refuseDuplicates(rows, 'title', (row) => row.title)
  const documents = rows.map(({ value: { id, title, lines, text } }) => ({
    id,
    title,
    lines: lines ?? (text ?? '').split(/\r?\n/),
  }))
  return new Corpus(documents, indexed)
}
