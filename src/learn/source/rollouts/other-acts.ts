import {
  type AssistantMessage,
  canonicalJson,
  isRefusal,
  type Json,
  listedValues,
  memberOf,
  type Message,
  type ToolCall,
  type ToolDefinition,
  type Trajectory,
  wasSaid,
} from '../../../core/index.ts'

/** Another act in the place of one of an attempt's. */
export interface OtherAct {
  /** What is changed: `replace → return` for the tool, `decide.verdict` for an argument; `refused …` at a refused call. */
  readonly change: string
  /** Whether it stands in the place of a call that a tool refused. */
  readonly refused: boolean
  /** Which of the attempt's turns it stands in the place of, from 0. */
  readonly turn: number
  readonly message: AssistantMessage
}

/**
 * The acts that an attempt could have made in the place of its own, up to the first that a tool refused, each with one choice
 * changed: another tool that takes the same arguments; another value where the tool's schema lists a few (`enum`, booleans);
 * or, of a value that the last results show, what stands at the same place of another line, if the schema takes it. What was refused may come from
 * any earlier result. No call is made again. Turns that also say something stay: the words would not fit.
 */
export function otherActs(attempt: Pick<Trajectory, 'nodes'>, tools: readonly ToolDefinition[]): readonly OtherAct[] {
  const messages = attempt.nodes.map(({ message }) => message)
  const at = spokenAt(attempt)
  const results = at.map((place, turn) => (turn === 0 ? [] : linesOf(messages.slice(at[turn - 1], place))))
  const slip = firstSlip(attempt)
  const made = messages.map(callsIn)
  // Where each call was made first.
  const firstMade = new Map(
    made.flatMap((calls, place) => calls.map((call) => [asText(call), place] as const)).toReversed(),
  )
  return at.flatMap((place, turn) => {
    const message = messages[place]
    if (turn > slip || message?.role !== 'assistant' || saysMore(message)) return []
    const calls = callsIn(message)
    const answers = messages.slice(place + 1, at[turn + 1]).filter(({ role }) => role === 'tool')
    return calls.flatMap((call, i) => {
      const refused = turn === slip && isRefused(answers, i, calls.length)
      // Where a tool refused a call, to change another of the turn mends nothing.
      if (turn === slip && !refused) return []
      const shown = refused ? results.slice(0, turn + 1).toReversed() : results.slice(turn, turn + 1)
      return otherCalls(call, tools, { shown, like: refused ? made.slice(0, place).flat().toReversed() : [] })
        .filter(({ chosen }) => (firstMade.get(asText(chosen)) ?? place) >= place)
        .map(({ change, chosen }) => ({
          change: refused ? `refused ${change}` : change,
          refused,
          turn,
          message: { ...message, toolCalls: calls.with(i, chosen) },
        }))
    })
  })
}

/** The places of the nodes at which the weights spoke: what an opening quotes of an assistant is no turn. */
export const spokenAt = ({ nodes }: Pick<Trajectory, 'nodes'>): readonly number[] =>
  nodes.flatMap(({ message, spans }, i) => (message.role === 'assistant' && spans.some(wasSaid) ? [i] : []))

/** The turn, from 0, whose calls a tool was the first to refuse; infinite where none did. */
export function firstSlip(attempt: Pick<Trajectory, 'nodes'>): number {
  const at = attempt.nodes.findIndex(({ message }) => isRefusal(message))
  return at === -1 ? Number.POSITIVE_INFINITY : spokenAt(attempt).filter((turn) => turn < at).length - 1
}

/** Whether a tool refused a turn's call: answers stand in the order of the calls. Where some have none, any may be it. */
const isRefused = (answers: readonly Message[], call: number, calls: number): boolean => {
  const answer = answers.length === calls ? answers[call] : undefined
  return answer === undefined || isRefusal(answer)
}

const callsIn = (message: Message): readonly ToolCall[] =>
  message.role === 'assistant' ? (message.toolCalls ?? []) : []

/** A call as text that is equal for equal calls. */
export const asText = ({ name, arguments: given }: ToolCall): string => canonicalJson([name, given])

const saysMore = ({ content, reasoning, malformedCalls = [] }: AssistantMessage): boolean =>
  content.trim() !== '' || Boolean(reasoning) || malformedCalls.length > 0

interface OtherCall {
  readonly change: string
  readonly chosen: ToolCall
}

/** What a value may have been taken from. */
interface Context {
  /** The lines of results, the last first. */
  readonly shown: readonly (readonly Words[])[]
  /** Calls, the last first: a value that stands in no lines was meant like the last of theirs that does. */
  readonly like: readonly ToolCall[]
}

function otherCalls(call: ToolCall, tools: readonly ToolDefinition[], context: Context): readonly OtherCall[] {
  const others = tools
    .filter((tool) => tool.name !== call.name && takes(tool, call))
    .map(({ name }) => ({ change: `${call.name} → ${name}`, chosen: { ...call, name } }))
  const tool = tools.find(({ name }) => name === call.name)
  const values = Object.entries(call.arguments).flatMap(([name, value]) => {
    const like = context.like.filter((one) => one.name === call.name).map((one) => memberOf(one.arguments, name))
    const listed = tool ? listedValues(tool, name) : []
    const isTaken = (other: string) => listed.length === 0 || listed.includes(other)
    const fromLines = otherLines([value, ...like], context.shown).filter(isTaken)
    const offered = [...(listed.length > few ? [] : listed), ...fromLines]
    return different(offered, value).map((other) => ({
      change: `${call.name}.${name}`,
      chosen: { ...call, arguments: { ...call.arguments, [name]: other } },
    }))
  })
  return [...others, ...values]
}

/** Whether a tool takes exactly these arguments, by name. No arguments say nothing about which tool could be meant. */
function takes({ parameters: { properties, required } }: ToolDefinition, { arguments: given }: ToolCall): boolean {
  const names = Object.keys(given)
  const needed = Array.isArray(required) ? required.map(String) : []
  return (
    names.length > 0 &&
    names.every((name) => memberOf(properties, name) !== undefined) &&
    needed.every((name) => names.includes(name))
  )
}

/** More values, or lines, than this are no choice among a few. */
const few = 16

type Words = readonly string[]

/** What tools returned, as the words of its lines; none where there are many. */
function linesOf(shown: readonly Message[]): readonly Words[] {
  const lines = shown
    .filter(({ role }) => role === 'tool')
    .flatMap(({ content }) => content.split('\n', few + 1).map((line) => line.trim().split(/\s+/)))
  return lines.length > few ? [] : lines
}

/**
 * The first of these values that has something in its place in another line of a result, or that has one word of which this is
 * so: as it would be if it were taken from there.
 */
function otherLines(values: readonly (Json | undefined)[], shown: Context['shown']): readonly string[] {
  for (const value of values) {
    if (typeof value !== 'string') continue
    const words = value.trim().split(/\s+/)
    const found = shown.map((lines) => inOtherLines(words, lines)).find((others) => others.length > 0)
    if (found) return found
  }
  return []
}

function inOtherLines(words: Words, lines: readonly Words[]): readonly string[] {
  const whole = atSamePlace(words, lines)
  if (whole.length > 0 || words.length === 1) return whole
  return words.flatMap((word, i) => atSamePlace([word], lines).map((other) => words.with(i, other).join(' ')))
}

/** What stands in other lines where these words stand in one; to the line's end, where they do. */
function atSamePlace(words: Words, lines: readonly Words[]): readonly string[] {
  for (const line of lines) {
    const from = line.findIndex((_, i) => words.every((word, j) => line[i + j] === word))
    if (from === -1) continue
    const to = from + words.length
    return lines.flatMap((other) => {
      const there = to === line.length ? other.slice(from) : other.slice(from, to)
      return other === line || there.length === 0 ? [] : [there.join(' ')]
    })
  }
  return []
}

/** The values that are not this one, each once. */
function different(values: readonly Json[], from: Json): readonly Json[] {
  const seen = new Map(values.map((value) => [JSON.stringify(value), value]))
  seen.delete(JSON.stringify(from))
  return [...seen.values()]
}
