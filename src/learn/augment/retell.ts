import { type DemonstratedEpisode, isUsers, type Message } from '../../core/index.ts'

/** A text, and what stands in its place. */
export interface Replacement {
  readonly pattern: RegExp
  readonly other: string
}

/** The text where it stands for itself, and not as a part of a longer name or number. */
export const wholly = (text: string): RegExp =>
  new RegExp(
    `(?<![\\p{L}\\p{N}_])(?<![\\p{L}\\p{N}][.-])${escaped(text)}(?![\\p{L}\\p{N}_])(?![.-][\\p{L}\\p{N}])`,
    'gu',
  )
const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** Whether a text stands for itself in another. */
export const standsIn = (part: string, text: string): boolean => wholly(part).test(text)

/** A text with each pattern replaced wherever it stands. */
export const replaced = (text: string, replacements: readonly Replacement[]): string =>
  replacements.reduce((told, { pattern, other }) => told.replace(pattern, () => other), text)

/** What is asked in a demonstration: its task's words, else the first that the user says. */
export const instructionOf = ({ messages, task }: DemonstratedEpisode): string =>
  task?.instruction ?? messages.find(isUsers)?.content ?? ''

/** A text that a call was given. */
export interface Argument {
  /** The tool, and the argument's name. */
  readonly given: string
  readonly text: string
}

/** What arguments were given, without repetition. */
export type ArgumentPool = ReadonlyMap<string, readonly string[]>

/** Gathers texts by the argument that they were given to. */
export function pooled(given: readonly Argument[]): Map<string, Set<string>> {
  const pool = new Map<string, Set<string>>()
  for (const { given: argument, text } of given) pool.set(argument, (pool.get(argument) ?? new Set()).add(text))
  return pool
}

/** A pool that is complete. */
export const listed = (pool: ReadonlyMap<string, ReadonlySet<string>>): ArgumentPool =>
  new Map([...pool].map(([given, texts]) => [given, [...texts]]))

/** Names an argument of a tool. */
export const argumentOf = (tool: string, name: string): string => JSON.stringify([tool, name])

/** Texts that an assistant's calls were given. */
export function argumentsOf(message: Message): readonly Argument[] {
  if (message.role !== 'assistant') return []
  return (message.toolCalls ?? []).flatMap(({ name, arguments: given }) =>
    Object.entries(given).flatMap(([key, value]) =>
      typeof value === 'string' ? [{ given: argumentOf(name, key), text: value }] : [],
    ),
  )
}

/** Messages with each text in what is asked, done and seen told otherwise. */
export const retold = (messages: readonly Message[], inText: (text: string) => string): readonly Message[] =>
  messages.map((message) => told(message, inText))

function told(message: Message, inText: (text: string) => string): Message {
  const content = inText(message.content)
  if (message.role !== 'assistant' || !message.toolCalls) return { ...message, content }
  const toolCalls = message.toolCalls.map((call) => ({
    ...call,
    arguments: Object.fromEntries(
      Object.entries(call.arguments).map(([key, value]) => [key, typeof value === 'string' ? inText(value) : value]),
    ),
  }))
  return { ...message, content, toolCalls }
}
