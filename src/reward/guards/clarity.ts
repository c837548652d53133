import { contentHash, type Trajectory } from '../../core/index.ts'
import { ownTurns, sinceUser } from '../turns.ts'
import { asksBack, namesIn } from './words.ts'

/** What is known of a task when its clarity is judged. */
export interface AskedTask {
  /** The user's words that the turn answers. */
  readonly asked: string
  /** The first that the user said in the episode. */
  readonly instruction: string
}

/** Says how clear a task is: whether it can be done without asking back. Give a judge's opinion, or one of these. */
export interface Clarity {
  /** Enters the rubric's hash: change it when `of` changes. */
  readonly name: string
  /** @returns from 0, nobody could know what is meant, to 1, nothing is left to ask. */
  of(task: AskedTask): number
}

/** Words that say something, from which on an order, or a question, is clear though it names nothing concrete. */
const clearOrder = 4
const clearQuestion = 2

/**
 * Clarity by wording: a task is clear (1) when it names something concrete (a number, an address, a file, an identifier,
 * something in quotes), when it is a question with two words that say something, or an order with four. Others (0) may be
 * asked about: "fix it", "help with my order", "book a flight".
 */
export function clearByWording(): Clarity {
  return {
    name: 'wording',
    of({ asked }) {
      const { concrete, words, question } = namesIn(asked)
      return concrete || words >= (question ? clearQuestion : clearOrder) ? 1 : 0
    },
  }
}

/** Sessions that are compared, at most: the last ones. */
const mostPractised = 2_000

/**
 * Clarity by practice: the share of sessions of the baseline, among those whose first words are most like the task's, that
 * answered without asking back. Where no session is like it, as `otherwise` says.
 * @param sessions of the release that serves; `alike`: shared words over all words, from 0 to 1, default 0.5.
 */
export function clearByPractice(
  sessions: readonly Trajectory[],
  { alike = 0.5, otherwise = clearByWording() }: { readonly alike?: number; readonly otherwise?: Clarity } = {},
): Clarity {
  const known = sessions.slice(-mostPractised).flatMap((session) => {
    const [first] = ownTurns(session)
    const words = wordsOf(session.task.instruction)
    if (!first || words.size === 0) return []
    return [{ words, answered: asksBack(first.message.content) === null || hasCalls(session, first.node) }]
  })
  const content = contentHash(known.map(({ words, answered }) => [[...words], answered]))
  return {
    name: `practice:${JSON.stringify([content, alike, otherwise.name])}`,
    of(task) {
      const words = wordsOf(task.asked)
      const like = known.filter((one) => similarity(words, one.words) >= alike)
      if (like.length === 0) return otherwise.of(task)
      return like.filter(({ answered }) => answered).length / like.length
    },
  }
}

function hasCalls({ nodes }: Trajectory, node: Trajectory['nodes'][number]): boolean {
  const path = [node, ...sinceUser(new Map(nodes.map((one) => [one.id, one])), node)]
  return path.some(({ message }) => message.role === 'assistant' && (message.toolCalls ?? []).length > 0)
}

function wordsOf(text: string): ReadonlySet<string> {
  const spaced =
    text
      .slice(0, 2_000)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  return new Set(spaced)
}

function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0
  for (const word of a) if (b.has(word)) shared += 1
  return shared === 0 ? 0 : shared / (a.size + b.size - shared)
}
