import { ChatRequest, type WireTool } from '../../core/index.ts'
import { parseRequest } from '../http/parse-request.ts'
import { messagesFrom } from './input-messages.ts'
import { AllowedTools, ChosenFunction, FunctionTool, type ResponsesRequest } from './responses-request.ts'
import { refuseStateful, unsupported } from './unsupported.ts'

/** Fields that are told otherwise to a chat model, or that say nothing to one. All others go on as they are. */
const notForChat = new Set(
  `input instructions tools tool_choice text reasoning max_output_tokens top_logprobs include
  metadata store truncation stream_options max_tool_calls context_management n
  background previous_response_id conversation prompt`.split(/\s+/),
)

/** Whether the client asks for the log-probabilities of what is said. */
export const wantsLogprobs = ({ include }: ResponsesRequest): boolean =>
  include?.includes('message.output_text.logprobs') === true

/**
 * A request to the Responses API as the chat request that asks the same.
 * @throws GatewayError 400 for what a chat model cannot be asked, or what only a server with a memory can do.
 */
export function chatRequestFrom(request: ResponsesRequest): ChatRequest {
  refuseStateful(request)
  const { text, reasoning, max_output_tokens, top_logprobs } = request
  const tools = toolsFrom(request)
  const choice = toolChoiceFrom(request)
  const format = formatFrom(request)
  const logprobs = wantsLogprobs(request)
  return parseRequest(ChatRequest, {
    ...Object.fromEntries(Object.entries(request).filter(([name]) => !notForChat.has(name))),
    messages: messagesFrom(request),
    ...(tools.length > 0 ? { tools } : {}),
    ...(choice === null ? {} : { tool_choice: choice }),
    ...(format === null ? {} : { response_format: format }),
    ...(text?.verbosity ? { verbosity: text.verbosity } : {}),
    ...(reasoning?.effort ? { reasoning_effort: reasoning.effort } : {}),
    ...(max_output_tokens ? { max_completion_tokens: max_output_tokens } : {}),
    ...(logprobs ? { logprobs, ...(top_logprobs ? { top_logprobs } : {}) } : {}),
  })
}

function toolsFrom({ tools }: ResponsesRequest): WireTool[] {
  return (tools ?? []).map((tool, i) => {
    if (tool.type !== 'function') {
      throw unsupported(
        'A tool',
        tool.type,
        `tools.${i}.type`,
        'Send tools of the type "function", and carry them out.',
      )
    }
    const { name, description, parameters, strict } = parseRequest(FunctionTool, tool, ['tools', i])
    return {
      type: 'function',
      function: {
        name,
        ...(description ? { description } : {}),
        ...(parameters ? { parameters } : {}),
        ...(typeof strict === 'boolean' ? { strict } : {}),
      },
    }
  })
}

function toolChoiceFrom({ tool_choice: choice }: ResponsesRequest): ChatRequest['tool_choice'] {
  if (choice === undefined || choice === null || typeof choice === 'string') return choice ?? null
  switch (choice.type) {
    case 'function':
      return { type: 'function', function: { name: parseRequest(ChosenFunction, choice, ['tool_choice']).name } }
    case 'allowed_tools': {
      const { mode, tools } = parseRequest(AllowedTools, choice, ['tool_choice'])
      return {
        type: 'allowed_tools',
        allowed_tools: {
          mode: mode === 'required' ? 'required' : 'auto',
          tools: (tools ?? []).map(({ name }) => ({ type: 'function', function: { name } })),
        },
      }
    }
    default:
      throw unsupported(
        'A tool choice',
        choice.type,
        'tool_choice.type',
        'Choose "auto", "required", "none" or a function.',
      )
  }
}

function formatFrom({ text }: ResponsesRequest): object | null {
  const format = text?.format
  if (!format) return null
  switch (format.type) {
    case 'text':
      return null
    case 'json_object':
      return { type: 'json_object' }
    case 'json_schema': {
      const { type: _, ...schema } = format
      return { type: 'json_schema', json_schema: schema }
    }
    default:
      throw unsupported('A text format', format.type, 'text.format.type', 'Use text, json_object or json_schema.')
  }
}
