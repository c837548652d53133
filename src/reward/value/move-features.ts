import { type AssistantMessage, type Embedder, type Json, type Message, seedOf, toolCallsOf } from '../../core/index.ts'
import type { Move } from './experience.ts'

/** Makes the numbers that a value reads. Pure: equal moves give equal numbers. */
export interface MoveFeatures {
  /** Names what makes them, and its settings. */
  readonly name: string
  /** A row of numbers for each move, all of one length. */
  of(moves: readonly Pick<Move, 'read' | 'said'>[]): Promise<readonly (readonly number[])[]>
}

/** Characters of one text that an embedder reads. */
const longestText = 4_000
/** Sorts of a move are hashed into so many. */
const sorts = 32

/**
 * How what is said fits what was read. A linear value of the state beside a linear value of the action would rank all
 * actions alike in every state, so these are of both together: the sort of the move (which tool is called after which
 * message), its likeness to what was asked and to what was last shown, each for every sort, and the vector of what is said
 * times either of theirs.
 */
export function fittingFeatures(embedder: Embedder): MoveFeatures {
  return {
    name: `fitting:1:${embedder.name}`,
    async of(moves) {
      const texts = moves.flatMap(({ read, said }) => [askedIn(read), shownIn(read), words(said)])
      const known = [...new Set(texts.map((text) => text.slice(0, longestText)))]
      const vectors = await embedder.embed(known)
      const of = new Map(known.map((text, i) => [text, vectors[i] ?? new Float32Array(embedder.dimensions)]))
      const vectorOf = (text: string) => of.get(text.slice(0, longestText)) ?? new Float32Array(embedder.dimensions)
      return moves.map(({ read, said }) => {
        const own = vectorOf(words(said))
        const [asked, shown] = [askedIn(read), shownIn(read)].map((text) => {
          const theirs = vectorOf(text)
          return [...own].map((value, i) => value * (theirs[i] ?? 0))
        })
        const sort = seedOf(sortOf(read, said)) % sorts
        const inSort = (value: number) => Array.from({ length: sorts }, (_, i) => (i === sort ? value : 0))
        const likeness = (products: readonly number[] = []) => inSort(products.reduce((sum, one) => sum + one, 0))
        const malformed = said.malformedCalls?.length ?? 0
        return [...inSort(1), ...likeness(asked), ...likeness(shown), malformed, ...(asked ?? []), ...(shown ?? [])]
      })
    },
  }
}

const askedIn = (read: readonly Message[]): string => read.find(({ role }) => role === 'user')?.content ?? ''

/** What was shown since the policy last spoke; nothing at first, where that is what was asked. */
function shownIn(read: readonly Message[]): string {
  const last = read.findLastIndex(({ role }) => role === 'assistant')
  if (last === -1) return ''
  return read
    .slice(last + 1)
    .map(({ content }) => content)
    .join('\n')
}

/** What is said, without the names of tools: these are its sort. */
function words(said: AssistantMessage): string {
  const given = toolCallsOf(said).flatMap((call) => Object.values(call.arguments))
  const inWords = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value))
  return [said.content, ...given.map(inWords)].join('\n')
}

function sortOf(read: readonly Message[], said: AssistantMessage): string {
  const last = read.at(-1)
  const after = last === undefined ? '' : last.role === 'tool' ? last.name : last.role
  return `${after} → ${
    toolCallsOf(said)
      .map(({ name }) => name)
      .join(' ') || 'says'
  }`
}
