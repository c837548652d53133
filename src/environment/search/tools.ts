import type { ToolDefinition } from '../../core/index.ts'

/** Longest argument a tool takes, in UTF-16 code units: titles and answers are shorter, and work per call stays bounded. */
export const maxArgumentLength = 256

const parameterOf = { search: 'query', open: 'title', answer: 'text' } as const

/** The tools of a search episode: each takes one string. */
export type ToolName = keyof typeof parameterOf

/** As the policy sees them. */
export const searchTools: readonly ToolDefinition[] = [
  tool('search', 'Lists the documents that match best.'),
  tool('open', 'Shows a document that a search has listed.'),
  tool('answer', 'Gives the answer and ends the episode.'),
]

function tool(name: ToolName, description: string): ToolDefinition {
  const parameter = parameterOf[name]
  return {
    name,
    description,
    parameters: {
      type: 'object',
      properties: { [parameter]: { type: 'string' } },
      required: [parameter],
      additionalProperties: false,
    },
  }
}

export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(parameterOf, name)
}

/** The one argument of a call, without white space at its ends, or what is wrong with it in words that teach. */
export type ReadArgument = { readonly text: string } | { readonly problem: string }

export function readArgument(tool: ToolName, given: unknown): ReadArgument {
  const parameter = parameterOf[tool]
  const usage = `${tool} takes one string: {"${parameter}": "…"}`
  if (typeof given !== 'object' || given === null) return { problem: usage }
  const keys = Object.keys(given)
  const value: unknown = Object.hasOwn(given, parameter) ? (given as Record<string, unknown>)[parameter] : undefined
  if (keys.length !== 1 || typeof value !== 'string') return { problem: usage }
  if (value.length > maxArgumentLength)
    return { problem: `${parameter} has ${value.length} characters: at most ${maxArgumentLength}` }
  const text = value.trim()
  return text === '' ? { problem: `${parameter} is empty` } : { text }
}
