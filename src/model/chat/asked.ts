import { type ChatRequest, type Message, messagesOf, type ToolDefinition, toolsOf } from '../../core/index.ts'
import type { SamplingParams } from '../../core/index.ts'
import { type Constraint, constraintOf, type Holder } from './constraint.ts'
import { refused } from './failures.ts'
import { refuseUnsupported } from './unsupported.ts'

/** A request, as far as this room reads it: everything that it asks for can be done. */
export interface Asked {
  readonly messages: readonly Message[]
  /** Tools that the policy may be shown. */
  readonly tools: readonly ToolDefinition[]
  /** False when it must not call them: what looks like a call is text. */
  readonly mayCall: boolean
  /** Whether its turn ends with its first call. */
  readonly oneCall: boolean
  readonly params: Omit<SamplingParams, 'maxTokens' | 'stopTokens'>
  /** What holds its answer to a form; `null` where nothing does. */
  readonly constraint: Constraint | null
  /** The text ends before the first of these. */
  readonly stop: readonly string[]
  /** `null` when the client leaves it to the model. */
  readonly maxTokens: number | null
  readonly choices: number
  readonly stream: boolean
}

/**
 * Reads a request.
 * @throws UpstreamError `refused` for what this model cannot do: nothing is left out in silence.
 */
export function asked(request: ChatRequest, holder: Holder): Asked {
  const { upstream } = holder
  refuseUnsupported(request, holder)
  const messages = messagesOf(request.messages)
  refuseOtherThanText(messages, request.model, upstream)
  const tools = toolsOf(request.tools ?? [])
  const mayCall = request.tool_choice !== 'none' && tools.length > 0
  const constraint = constraintOf(request, mayCall ? tools : [], holder)
  const stop = stopsOf(request.stop)
  const { temperature, top_p: topP, seed } = request
  const topK = request['top_k']
  return {
    messages,
    tools,
    mayCall,
    oneCall: mayCall && request.parallel_tool_calls === false,
    params: {
      temperature: temperature ?? 1,
      ...(typeof topP === 'number' && topP < 1 ? { topP } : {}),
      ...(typeof topK === 'number' && topK > 0 ? { topK } : {}),
      ...(typeof seed === 'number' ? { seed } : {}),
      ...(constraint === null ? {} : { grammar: constraint.grammar }),
    },
    constraint,
    stop,
    maxTokens: request.max_completion_tokens ?? request.max_tokens ?? null,
    choices: request.n ?? 1,
    stream: request.stream === true,
  }
}

/** A text never holds half a character, nor is it ended by nothing. */
function stopsOf(stop: ChatRequest['stop']): readonly string[] {
  const given = typeof stop === 'string' ? [stop] : (stop ?? [])
  return [...new Set(given)].filter((text) => text !== '' && !/\p{Cs}/u.test(text))
}

function refuseOtherThanText(messages: readonly Message[], model: string, upstream: string): void {
  for (const [i, { parts = [] }] of messages.entries()) {
    for (const [j, { type }] of parts.entries()) {
      if (type === 'text') continue
      throw refused(upstream, {
        code: 'unsupported_content',
        param: `messages[${i}].content[${j}].type`,
        message: `The model ${model} reads text only, and message ${i} holds a part of type ${JSON.stringify(type)}.`,
        hint: 'Send its text, or ask a model that reads such parts.',
      })
    }
  }
}
