import { contentHash, isUsers, type NodeId, type Trajectory, type TrajectoryNode } from '../../core/index.ts'
import { asksAgain, asksForChange } from '../implicit/words.ts'
import { textTokens, weigh } from '../text/index.ts'
import { before, type OwnTurn, ownTurns } from '../turns.ts'
import { onlyAsks } from './asking.ts'
import { namesIn } from './words.ts'

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

/** How sessions are compared. */
export interface PracticeOptions {
  /** Shared words over all words, from 0 to 1, from which on tasks are alike. Default 0.5. */
  readonly alike?: number
  /** What counts as one session more, so that a single like session does not decide. Default: by its wording. */
  readonly otherwise?: Clarity
  /** Names the sessions. Default: by all that is read of them. */
  readonly name?: string
}

/**
 * Clarity by practice: what the task needed where others did it. It is the share of the baseline's sessions, among those
 * whose first words are most like the task's, that answered without asking back and whose user had nothing to add: who
 * then says the same again with a word that was missing shows that it was not clear. `otherwise` counts as one session.
 * @param sessions of the release that serves.
 */
export function clearByPractice(
  sessions: readonly Trajectory[],
  { alike = 0.5, otherwise = clearByWording(), name }: PracticeOptions = {},
): Clarity {
  const known = sessions.slice(-mostPractised).flatMap((session) => {
    const words = wordsOf(session.task.instruction)
    const clear = words.size === 0 ? null : neededNothing(session)
    return clear === null ? [] : [{ words, clear }]
  })
  const content = name ?? contentHash(known.map(({ words, clear }) => [[...words], clear]))
  return {
    name: `practice:2:${JSON.stringify([content, alike, otherwise.name])}`,
    of(task) {
      const words = wordsOf(task.asked)
      const like = known.filter((one) => similarity(words, one.words) >= alike)
      return (like.filter(({ clear }) => clear).length + otherwise.of(task)) / (like.length + 1)
    },
  }
}

/** Whether a session's first task was answered as it was put; `null` where nothing was said to it. */
function neededNothing(session: Trajectory): boolean | null {
  const nodes = new Map(session.nodes.map((one) => [one.id, one]))
  const answer = ownTurns(session).findLast((turn) => usersBefore(turn, nodes).length === 1)
  if (!answer) return null
  const [asked] = usersBefore(answer, nodes)
  const next = session.nodes.find(({ parent, message }) => parent === answer.node.id && isUsers(message))
  return !onlyAsks(answer, nodes) && !(asked && next && adds(asked.message.content, next.message.content))
}

function usersBefore({ node }: OwnTurn, nodes: ReadonlyMap<NodeId, TrajectoryNode>): readonly TrajectoryNode[] {
  return before(nodes, node).filter(({ message }) => isUsers(message))
}

/** A word of three letters says something. */
const something = 0.25

/** Whether a user puts their task again, or asks for a change, with words that they did not say before. */
function adds(asked: string, next: string): boolean {
  if (!asksAgain(asked, next) && !asksForChange(next)) return false
  const known = wordsOf(asked)
  return weigh([...wordsOf(next)].filter((word) => !known.has(word))) >= something
}

const wordsOf = (text: string): ReadonlySet<string> => new Set(textTokens(text.slice(0, 2_000)))

function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0
  for (const word of a) if (b.has(word)) shared += 1
  return shared === 0 ? 0 : shared / (a.size + b.size - shared)
}
