import { nearestName, type ToolCall, type ToolDefinition } from '../../core/index.ts'
import { argumentProblem } from './argument-problem.ts'
import type { ShownTurn } from './written-demonstration.ts'
import { counted, type Finding, gravity, quoted } from './finding.ts'

/** The turns of one demonstration, with its number among all, from 1, and the tools that were at hand. */
export interface Numbered {
  readonly number: number
  readonly turns: readonly ShownTurn[]
  readonly tools: readonly ToolDefinition[]
}

/** Calls in demonstrations that the environment could not carry out. */
export function callFindings(shown: readonly Numbered[]): readonly Finding[] {
  return [unknownTools(shown), refusedArguments(shown), unreadableCalls(shown)].flat()
}

const callsOf = ({ turns }: Numbered): readonly ToolCall[] => turns.flatMap(({ message }) => message.toolCalls ?? [])

function unknownTools(shown: readonly Numbered[]): readonly Finding[] {
  const known = new Set<string>()
  const callers = new Map<string, number>()
  let n = 0
  let example: string | null = null
  for (const one of shown) {
    const own = new Set(one.tools.map(({ name }) => name))
    const unknown = callsOf(one).filter(({ name }) => !own.has(name))
    const [first] = unknown
    if (first === undefined) continue
    for (const tool of own) known.add(tool)
    n++
    example ??= `demonstration ${one.number}: ${told(first)}`
    for (const name of new Set(unknown.map(({ name }) => name))) callers.set(name, (callers.get(name) ?? 0) + 1)
  }
  const [commonest] = [...callers].toSorted(([, a], [, b]) => b - a)
  if (commonest === undefined) return []
  const [name] = commonest
  const nearest = nearestName(name.slice(0, 64), [...known])
  const calls = counted(n, shown.length, 'demonstration', ['calls', 'call'])
  const what =
    callers.size === 1
      ? `the tool ${quoted(name)}, which the environment does not have`
      : `${callers.size} tools that the environment does not have, most often ${quoted(name)}`
  return [
    {
      severity: gravity(n, shown.length),
      code: 'learn/unknown-tool',
      message: `${calls} ${what}.${nearest === null ? '' : ` Did you mean ${quoted(nearest)}?`}`,
      hint:
        known.size === 0
          ? 'Give the environment the tools that the demonstrations call.'
          : `Call only what the environment has: ${[...known]
              .slice(0, 8)
              .map((name) => quoted(name))
              .join(', ')}.`,
      n,
      of: shown.length,
      example,
    },
  ]
}

function refusedArguments(shown: readonly Numbered[]): readonly Finding[] {
  const problemOf = (call: ToolCall, tools: readonly ToolDefinition[]): string | null => {
    const tool = tools.find(({ name }) => name === call.name)
    const problem = tool === undefined ? null : argumentProblem(call.arguments, tool)
    return problem === null ? null : `${told(call)}: ${problem}`
  }
  const refused = shown.flatMap((one) => {
    const problem = callsOf(one).reduce<string | null>((first, call) => first ?? problemOf(call, one.tools), null)
    return problem === null ? [] : [`demonstration ${one.number}: ${problem}`]
  })
  const [example] = refused
  if (example === undefined) return []
  const calls = counted(refused.length, shown.length, 'demonstration', ['calls', 'call'])
  return [
    {
      severity: gravity(refused.length, shown.length),
      code: 'learn/refused-arguments',
      message: `${calls} a tool with arguments that its schema refuses. For example, ${example}.`,
      hint: "Write the arguments as each tool's JSON Schema asks for them.",
      n: refused.length,
      of: shown.length,
      example,
    },
  ]
}

function unreadableCalls(shown: readonly Numbered[]): readonly Finding[] {
  const broken = shown.flatMap(({ number, turns }) => {
    const [first] = turns.flatMap(({ message }) => message.malformedCalls ?? [])
    return first === undefined ? [] : [`demonstration ${number}: ${quoted(first.text)}`]
  })
  const [example] = broken
  if (example === undefined) return []
  const hold = counted(broken.length, shown.length, 'demonstration', ['holds', 'hold'])
  return [
    {
      severity: gravity(broken.length, shown.length),
      code: 'learn/unreadable-call',
      message: `${hold} a tool call that cannot be read. For example, ${example}.`,
      hint: 'Leave out turns whose calls are broken: what is shown is imitated.',
      n: broken.length,
      of: shown.length,
      example,
    },
  ]
}

/** A call as a person would write it, cut. */
export const told = ({ name, arguments: given }: ToolCall): string => quoted(`${name} ${JSON.stringify(given)}`, 120)
