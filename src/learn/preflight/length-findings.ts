import { ToolDefinition } from '../../core/index.ts'
import { counted, type Finding, gravity, quoted } from './finding.ts'
import type { Visit } from './visit.ts'

/** How long texts may be. */
export interface Measure {
  /** Tokens of a text as the model reads it. */
  readonly countTokens: (text: string) => number
  /** Tokens that tool definitions take; a renderer may show none. Default: those of their JSON. */
  readonly toolTokens?: (tools: readonly ToolDefinition[]) => number
  /** Tokens that the model can read and write in one episode. */
  readonly contextLength: number
}

/** Characters of a text that are counted for each token of the context: the rest is estimated from these. */
const charactersPerToken = 8

/** Tasks, and results of acts, that do not fit the model's context. */
export function lengthFindings(visits: readonly Visit[], measure: Measure): readonly Finding[] {
  const sizes = visits.map((visit) => ({ visit, ...sizesOf(visit, measure) }))
  return [...longOpenings(sizes, measure), ...longObservations(sizes, measure)]
}

interface Size {
  readonly visit: Visit
  /** Tokens of what has to be read before the first act. */
  readonly opening: number
  /** Tokens of the longest observation. */
  readonly observation: number
}

function sizesOf({ task, opened, longest }: Visit, measure: Measure): Omit<Size, 'visit'> {
  const opening = (opened?.opening ?? []).map(({ content }) => content).join('\n')
  const tools = (opened?.tools ?? []).flatMap((tool) => {
    const read = ToolDefinition.safeParse(tool)
    return read.success ? [read.data] : []
  })
  const toolTokens =
    measure.toolTokens ?? ((all) => (all.length === 0 ? 0 : tokenCountOf(JSON.stringify(all), measure)))
  const asked = Math.max(tokenCountOf(opening, measure), tokenCountOf(task.instruction, measure))
  return { opening: asked + toolTokens(tools), observation: tokenCountOf(longest?.text ?? '', measure) }
}

/** A megabyte need not be read to its end to be too long. */
function tokenCountOf(text: string, { countTokens, contextLength }: Measure): number {
  const head = text.slice(0, contextLength * charactersPerToken)
  if (head.length === 0) return 0
  return Math.round((countTokens(head) * text.length) / head.length)
}

function longOpenings(sizes: readonly Size[], { contextLength }: Measure): readonly Finding[] {
  const long = sizes.filter(({ opening }) => opening >= contextLength)
  const [first] = long
  if (first === undefined) return []
  const example = `the task ${quoted(first.visit.task.instruction)} needs about ${first.opening} tokens with its tools`
  return [
    {
      severity: gravity(long.length, sizes.length),
      code: 'learn/long-opening',
      message: `${counted(long.length, sizes.length, 'task', ['does not fit', 'do not fit'])} the model's context of ${contextLength} tokens. For example, ${example}.`,
      hint: 'Shorten the instruction, the opening or the tools, or take a model that reads more.',
      n: long.length,
      of: sizes.length,
      example,
    },
  ]
}

function longObservations(sizes: readonly Size[], { contextLength }: Measure): readonly Finding[] {
  const fitting = sizes.filter(({ opening }) => opening < contextLength)
  const long = fitting.filter(({ opening, observation }) => opening + observation >= contextLength)
  const [first] = long
  if (first === undefined) return []
  const example = `in the task ${quoted(first.visit.task.id, 40)}, ${first.visit.longest?.act} returns about ${first.observation} tokens`
  return [
    {
      severity: 'warn',
      code: 'learn/long-observation',
      message: `${counted(long.length, fitting.length, 'task', ['gives', 'give'])} a result that does not fit the model's context of ${contextLength} tokens. For example, ${example}.`,
      hint: 'Let the environment cut what it returns, and say where the rest can be read.',
      n: long.length,
      of: fitting.length,
      example,
    },
  ]
}
