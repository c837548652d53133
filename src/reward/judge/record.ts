import { isUsers, type Message, toolCallsOf, type Trajectory } from '../../core/index.ts'

/** Characters of one message, and of all together, that a judge reads. */
const mostOfMessage = 8_000
export const mostOfRecord = 40_000
/** Messages, and calls of one message, that it reads: empty ones cost room, too. */
const mostMessages = 100
const mostCalls = 20

/** What was said in a trajectory, in the order of recording. */
export const messagesOf = ({ nodes }: Pick<Trajectory, 'nodes'>): readonly Message[] =>
  nodes.map(({ message }) => message)

/**
 * What was said, as a judge reads it: JSON of one line ({@link asData}). System messages are left out, as they may be what
 * is tried. Of a long one it reads what was asked first and how it ended; `leftOut` counts what lies between.
 */
export function recordOf(
  all: readonly Message[],
  { most = mostOfRecord, from: begin = 'asked' }: RecordOptions = {},
): string {
  const messages = all.filter(({ role }) => role !== 'system')
  const room = new Room(most)
  const first = begin === 'asked' ? Math.max(messages.findIndex(isUsers), 0) : 0
  const begun = messages.slice(first, first + 1).map((message) => shown(message, room))
  const latest: object[] = []
  let from = messages.length
  while (from > first + 1 && room.left > 0 && latest.length + begun.length < mostMessages) {
    from--
    latest.unshift(...messages.slice(from, from + 1).map((message) => shown(message, room)))
  }
  const leftOut = from - (first + 1)
  return asData([
    ...(first > 0 ? [{ leftOut: first }] : []),
    ...begun,
    ...(leftOut > 0 ? [{ leftOut }] : []),
    ...latest,
  ])
}

/** How much of what was said is shown. */
interface RecordOptions {
  /** Characters of all messages together. Default 40,000. */
  readonly most?: number
  /** Where it begins: with what a user asked first, or at the very start, as a part of a session does. Default `asked`. */
  readonly from?: 'asked' | 'start'
}

/** JSON of one line, in which no `<` is left that could end what it stands in. */
export const asData = (value: unknown): string => JSON.stringify(value).replaceAll('<', String.raw`\u003c`)

/** Characters that are left. */
class Room {
  left: number

  constructor(most: number) {
    this.left = most
  }

  cut(text: string): string {
    const kept = text.slice(0, Math.min(mostOfMessage, this.left))
    this.left -= kept.length
    return kept.length < text.length ? `${kept}…` : kept
  }
}

function shown(message: Message, room: Room): object {
  const content = room.cut(message.content)
  const calls = toolCallsOf(message)
  if (calls.length === 0) return { role: message.role, content }
  const leftOut = Math.max(calls.length - mostCalls, 0)
  const told = calls
    .slice(leftOut)
    .map((call) => ({ name: room.cut(call.name), arguments: room.cut(JSON.stringify(call.arguments)) }))
  return { role: message.role, content, calls: [...(leftOut > 0 ? [{ leftOut }] : []), ...told] }
}
