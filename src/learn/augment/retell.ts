import { type DemonstratedEpisode, isUsers, type Json, type Message, toolCallsOf } from '../../core/index.ts'

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

/** A text or a number that a call was given. */
export interface Argument {
  /** The tool, and the argument's name. */
  readonly given: string
  readonly text: string
  /** Whether the call holds a number. */
  readonly isNumber: boolean
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

/** Texts and numbers that an assistant's calls were given, those within lists and objects as well. */
export function argumentsOf(message: Message): readonly Argument[] {
  return toolCallsOf(message).flatMap(({ name, arguments: given }) =>
    Object.entries(given).flatMap(([key, value]) => leavesOf(value, argumentOf(name, key))),
  )
}

/** What an episode's calls give to arguments whose values a schema lists. @param listed those arguments. */
export const chosenIn = ({ messages }: DemonstratedEpisode, listed: ReadonlySet<string>): ReadonlySet<string> =>
  new Set(messages.flatMap(argumentsOf).flatMap(({ given, text }) => (listed.has(given) ? [text] : [])))

function leavesOf(value: Json, given: string): readonly Argument[] {
  if (typeof value === 'string') return [{ given, text: value, isNumber: false }]
  if (typeof value === 'number') return [{ given, text: String(value), isNumber: true }]
  if (value === null || typeof value === 'boolean') return []
  return Object.values(value).flatMap((one) => leavesOf(one, given))
}

/** Messages with each text in what is asked, done and seen told otherwise. */
export const retold = (messages: readonly Message[], inText: (text: string) => string): readonly Message[] =>
  messages.map((message) => told(message, inText))

function told(message: Message, inText: (text: string) => string): Message {
  const content = inText(message.content)
  if (message.role !== 'assistant' || !message.toolCalls) return { ...message, content }
  const toolCalls = message.toolCalls.map((call) => ({ ...call, arguments: toldObject(call.arguments, inText) }))
  return { ...message, content, toolCalls }
}

type JsonRecord = Record<string, Json>

const toldObject = (object: Readonly<JsonRecord>, inText: (text: string) => string): JsonRecord =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, toldValue(value, inText)]))

function toldValue(value: Json, inText: (text: string) => string): Json {
  if (typeof value === 'string') return inText(value)
  if (typeof value === 'number') return toldNumber(value, inText)
  if (value === null || typeof value === 'boolean') return value
  return isList(value) ? value.map((one) => toldValue(one, inText)) : toldObject(value, inText)
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)

/** A number stays one: what is put in its place is written as JSON writes it. */
function toldNumber(value: number, inText: (text: string) => string): number {
  const text = inText(String(value))
  return String(Number(text)) === text ? Number(text) : value
}
