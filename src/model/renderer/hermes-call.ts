import { z } from 'zod'
import { Json, type MalformedCall, type ToolCall, type ToolDefinition } from '../../core/index.ts'
import { unknownTool } from './dialect.ts'

/** The tags around a call. */
export const opening = '<tool_call>'
export const closing = '</tool_call>'

const Call = z.strictObject({ name: z.string().min(1), arguments: z.record(z.string(), Json) })

/** The call that a block of text holds, or why it holds none. */
export function readBlock(text: string, tools: readonly ToolDefinition[]): ToolCall | MalformedCall {
  const problem = (why: string): MalformedCall => ({ text, problem: why })
  if (!text.startsWith(opening)) return problem('There is text after a tool call.')
  if (!text.endsWith(closing)) return problem('The tool call is not closed.')
  const json = parseJson(text.slice(opening.length, -closing.length))
  if (json === undefined) return problem('The tool call is not JSON.')
  const call = Call.safeParse(json)
  if (!call.success) return problem('The tool call is not of the form {"name": string, "arguments": object}.')
  if (!tools.some(({ name }) => name === call.data.name)) return problem(unknownTool(call.data.name, tools))
  return call.data
}

/** The value of a JSON text; undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
