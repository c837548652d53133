import { z } from 'zod'
import { MalformedCorpusError } from './malformed-corpus-error.ts'
import { printable } from '../printable.ts'
import { TrigramIndex } from './trigram-index.ts'

/** One document: found and opened by its title, shown line by line. Titles have one line of at most 200 characters. */
export const Document = z.strictObject({
  id: z.string().min(1).max(256),
  title: z
    .string()
    .min(1)
    .max(200)
    .regex(/^(?!\s)[^\p{Cc}\p{Zl}\p{Zp}]+(?<!\s)$/u, 'must be one line without white space at its ends'),
  lines: z.array(z.string()).min(1),
})
export type Document = z.infer<typeof Document>

/** How many titles a search lists. */
const hitsPerSearch = 3

/** What of a document a query is compared with. Titles suit names; text suits prose. */
export type IndexedPart = 'title' | 'title-and-text'

/** A fixed set of documents with distinct ids and titles, and its search index. Immutable, so any number of episodes share it. */
export class Corpus {
  /** Sorted by title (by UTF-16 code unit: the same everywhere). */
  readonly documents: readonly Document[]
  readonly #byTitle = new Map<string, number>()
  readonly #index: TrigramIndex

  /** @throws MalformedCorpusError when there is no document, one is not a {@link Document}, or two share an id or a title. */
  constructor(documents: readonly Document[], indexed: IndexedPart = 'title-and-text') {
    if (documents.length === 0) throw new MalformedCorpusError('The corpus has no documents.', 'Give it at least one.')
    this.documents = documents.toSorted((a, b) => (a.title < b.title ? -1 : 1))
    const ids = new Set<string>()
    for (const [at, document] of this.documents.entries()) {
      const { id, title } = checkDocument(document)
      if (ids.has(id)) throw duplicate('id', id)
      if (this.#byTitle.has(title)) throw duplicate('title', title)
      ids.add(id)
      this.#byTitle.set(title, at)
    }
    this.#index = new TrigramIndex(
      this.documents.map(({ title, lines }) => (indexed === 'title' ? title : [title, ...lines].join(' '))),
    )
  }

  /** The document of exactly this title. */
  document(title: string): Document | undefined {
    const at = this.#byTitle.get(title)
    return at === undefined ? undefined : this.documents[at]
  }

  /**
   * Titles of the three documents most similar to the query, in alphabetical order, so that rank gives nothing away.
   * A document whose title equals the query is always among them. Fewer, or none, when fewer share a trigram.
   */
  search(query: string): string[] {
    const exact = this.#byTitle.get(query)
    const hits = this.#index.search(query, hitsPerSearch)
    if (exact !== undefined && !hits.includes(exact)) hits.splice(hitsPerSearch - 1, 1, exact)
    return hits.sort((a, b) => a - b).map((at) => (this.documents[at] as Document).title)
  }
}

function checkDocument(document: Document): Document {
  const checked = Document.safeParse(document)
  if (checked.success) return document
  const [issue] = checked.error.issues
  throw new MalformedCorpusError(
    `The document "${printable(document.title)}" is not one: ${issue?.path.join('.')} ${issue?.message}.`,
    'Give it an id, a title of one line, and at least one line of text.',
  )
}

function duplicate(field: 'id' | 'title', value: string): MalformedCorpusError {
  return new MalformedCorpusError(
    `Two documents of the corpus have the ${field} "${printable(value)}".`,
    `Give every document its own ${field}.`,
  )
}
