import { present } from '../../../errors/index.ts'
import { Corpus } from '../corpus.ts'
import type { Feature } from './features.ts'
import { type SupportTable, supportLines } from './support.ts'

/** The documents of one split: what its tasks ask about, and all that a search in them can find. */
export class Shelf {
  readonly corpus: Corpus
  readonly titles: readonly string[]
  readonly #support: ReadonlyMap<string, SupportTable>
  readonly #siblings = new Map<string, readonly string[]>()

  /** @throws MalformedCorpusError when there is no feature. */
  constructor(features: readonly Feature[]) {
    const documents = features.map(({ id, title, support }) => ({ id, title, lines: supportLines(support) }))
    this.corpus = new Corpus(documents, 'title')
    this.titles = this.corpus.documents.map(({ title }) => title)
    this.#support = new Map(features.map(({ title, support }) => [title, support]))
  }

  support(title: string): SupportTable {
    return present(this.#support.get(title), `the document ${title}`)
  }

  /** The wrong documents that the obvious search, for the title itself, lists. */
  siblings(title: string): readonly string[] {
    const known = this.#siblings.get(title)
    if (known !== undefined) return known
    const siblings = this.corpus.search(title).filter((hit) => hit !== title)
    this.#siblings.set(title, siblings)
    return siblings
  }
}
