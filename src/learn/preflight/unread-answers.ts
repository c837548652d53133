import { type Json, wordsIn } from '../../core/index.ts'
import { counted, type Finding, quoted } from './finding.ts'
import { type ShownTurn, turnsOf, type WrittenDemonstration } from './written-demonstration.ts'

/** Fewer demonstrations than this show no custom. */
const enough = 8
/** Fewer different answers than this share of the demonstrations are labels to choose among, and need not be read. */
const labels = 1 / 4

/**
 * Demonstrations whose last act says what stands in nothing that was read before it, where most are so: no document holds the
 * answer, or it is computed. Only a warning, since what is computed can be learned.
 */
export function unreadAnswers(demonstrations: readonly WrittenDemonstration[]): readonly Finding[] {
  const answers = demonstrations.map((one, i) => ({ number: i + 1, unread: unreadOf(one) }))
  const unread = answers.filter((one) => one.unread !== '')
  const different = new Set(unread.map((one) => one.unread)).size
  const [first] = unread
  if (first === undefined || answers.length < enough) return []
  if (2 * unread.length <= answers.length || different <= labels * answers.length) return []
  const example = `demonstration ${first.number} says ${quoted(first.unread)}`
  return [
    {
      severity: 'warn',
      code: 'learn/unread-answer',
      message: `${counted(unread.length, answers.length, 'demonstration', ['ends', 'end'])} with words that stand in nothing that was read before. For example, ${example}.`,
      hint: 'See that the tools show what the answer hangs on, or demonstrate the steps by which it is found.',
      n: unread.length,
      of: answers.length,
      example,
    },
  ]
}

/** The words of the last act that no message before it has; none where an image or a file may hold them. */
function unreadOf({ messages }: WrittenDemonstration): string {
  const last = turnsOf(messages).at(-1)
  if (last === undefined || messages.some(({ parts }) => parts !== undefined)) return ''
  const before = messages.slice(0, last.at)
  const read = new Set(before.flatMap(({ role, content }) => (role === 'assistant' ? [] : wordsIn(content))))
  return wordsIn(saidIn(last))
    .filter((word) => !read.has(word))
    .join(' ')
}

/** What an act says: its message, or the values that its calls are given. */
function saidIn({ action }: ShownTurn): string {
  if (action === null) return ''
  return action.kind === 'message'
    ? action.content
    : action.calls.flatMap(({ arguments: given }) => leaves(given)).join(' ')
}

const leaves = (value: Json): readonly string[] =>
  value !== null && typeof value === 'object' ? Object.values(value).flatMap(leaves) : [String(value)]
