import { dot, type Embedder, type ToolDefinition } from '../../core/index.ts'
import { TextVectors } from '../memory/text-vectors.ts'

/** Characters of a query that are read, and sentences of it that are looked up each for itself. */
const mostRead = 4_000
const mostSentences = 16

/** Vectors of tools, by what makes them: every episode of an environment has the same ones. */
const vectorsOf = new WeakMap<Embedder, TextVectors>()

/** Finds tools by what they do. */
export class ToolIndex {
  readonly #tools: readonly ToolDefinition[]
  readonly #vectors: TextVectors

  constructor(tools: readonly ToolDefinition[], embedder: Embedder) {
    const vectors = vectorsOf.get(embedder) ?? new TextVectors(embedder)
    vectorsOf.set(embedder, vectors)
    this.#tools = tools
    this.#vectors = vectors
  }

  /**
   * The tools that fit a query best, the best first; of equally good ones, the first. A long query is looked up as a whole and
   * sentence by sentence: what only one of them is about would be lost in the whole.
   */
  async best(query: string, count: number): Promise<readonly ToolDefinition[]> {
    const [tools, asked] = [
      await this.#vectors.of(this.#tools.map(wordsOf)),
      await new TextVectors(this.#vectors.embedder).of(piecesOf(query)),
    ]
    return this.#tools
      .map((tool, i) => ({ tool, score: Math.max(...asked.map((piece) => dot(piece, tools[i] ?? piece))) }))
      .toSorted((a, b) => b.score - a.score)
      .slice(0, count)
      .map(({ tool }) => tool)
  }
}

function piecesOf(query: string): readonly string[] {
  const read = query.slice(0, mostRead)
  const sentences = read.split(/[.!?\n]+/).filter((sentence) => sentence.trim() !== '')
  return sentences.length < 2 ? [read] : [read, ...sentences.slice(0, mostSentences)]
}

/** What a tool is found by: its name in words, what it says of itself, and what it takes. */
function wordsOf({ name, description, parameters: { properties } }: ToolDefinition): string {
  const taken = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  return [inWords(name), description, ...taken.map(inWords)].join(' ')
}

/** `listOpenInvoices` and `list_open-invoices` as `list Open Invoices`. */
const inWords = (name: string): string => name.replaceAll(/([\p{Ll}\d])(?=\p{Lu})/gu, '$1 ').replaceAll(/[_.-]+/g, ' ')
