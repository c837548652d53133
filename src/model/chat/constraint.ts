import type { ChatRequest, Grammar, JsonSchema, ModelService, ToolDefinition } from '../../core/index.ts'
import { JsonObject } from '../../core/index.ts'
import { refused } from './failures.ts'

/** What holds an answer to a form. */
export interface Constraint {
  readonly grammar: Grammar
  /** The part of the request that asks for it. */
  readonly param: 'response_format' | 'tool_choice'
}

/** Who would have to hold an answer to a form. */
export interface Holder {
  readonly service: Pick<ModelService, 'renderer' | 'sampler'>
  /** For the words of a refusal. */
  readonly upstream: string
}

/**
 * The form that a request wants its answer to have: calls of tools, JSON, or, where it wants JSON and offers tools,
 * either. `null` for any text.
 * @param callable tools that the policy may call.
 * @throws UpstreamError `refused` where it is not known, or this model cannot be held to any.
 */
export function constraintOf(
  request: ChatRequest,
  callable: readonly ToolDefinition[],
  holder: Holder,
): Constraint | null {
  const several = request.parallel_tool_calls !== false
  const forced = forcedTools(request, callable, holder)
  if (forced !== null) {
    const param = 'tool_choice'
    // A tool by name is one call: whoever names it does not say how often.
    return { grammar: callsOf(forced, several && request.tool_choice === 'required', holder, param), param }
  }
  const schema = schemaOf(request, holder)
  if (schema === null) return null
  const param = 'response_format'
  const json: Grammar = { kind: 'json', schema }
  if (callable.length === 0) return { grammar: json, param }
  return { grammar: { kind: 'or', of: [json, callsOf(callable, several, holder, param)] }, param }
}

/** The tools of which one must be called; `null` where none must. */
function forcedTools(
  { tool_choice: choice }: ChatRequest,
  callable: readonly ToolDefinition[],
  { service, upstream }: Holder,
): readonly ToolDefinition[] | null {
  if (choice === null || choice === undefined || choice === 'auto' || choice === 'none') return null
  const name = namedIn(choice)
  if ((choice !== 'required' && name === null) || service.sampler.capabilities.grammars !== true) {
    const wanted = typeof choice === 'string' ? choice : 'a tool by name'
    throw refused(upstream, {
      code: 'unsupported_tool_choice',
      param: 'tool_choice',
      message: `The tool choice ${JSON.stringify(wanted)} is not supported: this model cannot be forced so.`,
      hint: 'Use "auto" or "none", and say in the messages what it should call.',
    })
  }
  const forced = callable.filter((tool) => name === null || tool.name === name)
  if (forced.length > 0) return forced
  throw refused(upstream, {
    code: 'invalid_value',
    param: 'tool_choice',
    message: name === null ? 'A tool must be called, and there are none.' : `There is no tool ${JSON.stringify(name)}.`,
    hint: 'Give the tool in `tools`.',
  })
}

/** The tool of `{ type: 'function', function: { name } }`. */
function namedIn(choice: NonNullable<ChatRequest['tool_choice']>): string | null {
  if (typeof choice === 'string' || choice['type'] !== 'function') return null
  const named = JsonObject.safeParse(choice['function'])
  const name = named.success ? named.data['name'] : null
  return typeof name === 'string' ? name : null
}

function callsOf(
  tools: readonly ToolDefinition[],
  several: boolean,
  { service, upstream }: Holder,
  param: Constraint['param'],
): Grammar {
  const calls = service.renderer.forcedCalls?.(tools, several)
  if (calls) return calls
  throw refused(upstream, {
    code: param === 'tool_choice' ? 'unsupported_tool_choice' : 'unsupported_response_format',
    param,
    message: 'It is not known in which form this model calls tools, so that its answer cannot be held to it.',
    hint: param === 'tool_choice' ? 'Use "auto" or "none".' : 'Leave the tools out, or the response format.',
  })
}

/** The schema of the wanted JSON; `null` for any text. */
function schemaOf({ response_format: format }: ChatRequest, { service, upstream }: Holder): JsonSchema | null {
  const type = format?.type ?? 'text'
  if (type === 'text') return null
  const described = JsonObject.safeParse(format?.['json_schema'])
  const schema = JsonObject.safeParse(described.success ? described.data['schema'] : null)
  const wanted =
    type === 'json_object' ? { type: 'object' } : type === 'json_schema' && schema.success ? schema.data : null
  if (wanted !== null && service.sampler.capabilities.grammars === true) return wanted
  throw refused(upstream, {
    code: 'unsupported_response_format',
    param: 'response_format',
    message:
      wanted === null
        ? `The response format ${JSON.stringify(type)} is not one that is known, or has no schema.`
        : `The response format ${JSON.stringify(type)} is not supported: this model's words cannot be constrained.`,
    hint:
      wanted === null
        ? 'Use { type: "json_schema", json_schema: { name, schema } } or { type: "json_object" }.'
        : 'Leave response_format out, ask for JSON in the messages, and check what comes.',
  })
}
