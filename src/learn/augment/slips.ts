import type { Message, Rng } from '../../core/index.ts'
import { argumentsOf, replaced, standsIn, wholly } from './retell.ts'

/** A conversation, and the messages in it that are read and not learned. */
export interface Slipped {
  readonly messages: readonly Message[]
  readonly mistakes: readonly number[]
}

/**
 * A conversation in which one call slipped, and was answered all the same: a text that it was given is not quite what it should
 * be, what the tool said shows it right, and a later call takes it from there. Who imitates this learns to go on from what tools
 * say, and not from what was said to them: without it a policy that never saw a slip repeats its own (noise injection for
 * robust imitation: Laskey et al. 2017). The slip itself is not learned.
 * @returns `null` where no call could slip so.
 */
export function slipped(messages: readonly Message[], random: Rng): Slipped | null {
  const could = messages.flatMap((message, at) =>
    argumentsOf(message)
      .filter(({ text }) => text.length >= shortest && isShownRight(messages, at, text))
      .map(({ text }) => ({ at, text })),
  )
  const chosen = could[Math.floor(random.next() * could.length)]
  if (chosen === undefined) return null
  const { at, text } = chosen
  const slip = [{ pattern: wholly(text), other: slipOf(text, random) }]
  return { messages: messages.map((message, i) => (i === at ? given(message, slip) : message)), mistakes: [at] }
}

/** Shorter texts have too little to recognise them by. */
const shortest = 3

/** Whether a tool says the text after this call, and a later call is given the same. */
function isShownRight(messages: readonly Message[], at: number, text: string): boolean {
  const later = messages.findIndex((message, i) => i > at && argumentsOf(message).some((one) => one.text === text))
  return (
    later > 0 && messages.slice(at + 1, later).some(({ role, content }) => role === 'tool' && standsIn(text, content))
  )
}

const letters = 'aeiourstlnmdcpbghfkvwy'
const marks = ['.', ',', '?', '!']

/** The text as one who copies it badly writes it: a piece of it lost, wrong or of its own, or a mark that belongs to the sentence. */
function slipOf(text: string, random: Rng): string {
  const below = (n: number) => Math.floor(random.next() * n)
  const length = 1 + below(Math.min(4, text.length - 1))
  const start = random.next() < 0.5 ? 0 : below(text.length - length + 1)
  const some = () => Array.from({ length: 1 + below(4) }, () => letters[below(letters.length)] ?? '').join('')
  const [before, after] = [text.slice(0, start), text.slice(start + length)]
  const slips = [
    () => `${text}${marks[below(marks.length)] ?? '.'}`,
    () => `${before}${after}`,
    () => `${before}${some()}${after}`,
  ]
  return slips[below(slips.length)]?.() ?? text
}

/** A message whose calls are given something else. */
function given(message: Message, slip: Parameters<typeof replaced>[1]): Message {
  if (message.role !== 'assistant' || !message.toolCalls) return message
  const toolCalls = message.toolCalls.map((call) => ({
    ...call,
    arguments: Object.fromEntries(
      Object.entries(call.arguments).map(([key, value]) => [
        key,
        typeof value === 'string' ? replaced(value, slip) : value,
      ]),
    ),
  }))
  return { ...message, toolCalls }
}
