import {
  type AssistantMessage,
  type CallId,
  type ChatCompletion,
  type FinishReason,
  type ServedBy,
  type Trajectory,
  type TrajectoryId,
  type Usage,
  type WireToolCall,
  wireToolCall,
} from '../../core/index.ts'
import { responseIdOf } from './ids.ts'
import { callsBeside } from './spoken.ts'

/** An answer, as far as it is needed to give it again. */
export interface Given {
  readonly trajectory: TrajectoryId
  readonly call: CallId
  readonly servedModel: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly choices: readonly {
    readonly index: number
    readonly message: AssistantMessage
    readonly finish: FinishReason
  }[]
  readonly usage: Usage | null
  /** What served its session; `null` where its agent has no releases. */
  readonly served: ServedBy | null
}

/** The same answer again, but for the log-probabilities of its tokens, whose texts are not kept. */
export function completionOf({ trajectory, call, servedModel, startedAt, choices, usage }: Given): ChatCompletion {
  return {
    id: responseIdOf(trajectory, call),
    object: 'chat.completion',
    created: Math.floor(startedAt / 1000),
    model: servedModel,
    choices: choices.map(({ index, message, finish }) => ({
      index,
      message: wireMessage(message, call),
      logprobs: null,
      finish_reason: finish,
    })),
    ...(usage === null
      ? {}
      : {
          usage: {
            prompt_tokens: usage.promptTokens,
            completion_tokens: usage.completionTokens,
            total_tokens: usage.promptTokens + usage.completionTokens,
            ...(usage.cachedTokens === null ? {} : { prompt_tokens_details: { cached_tokens: usage.cachedTokens } }),
          },
        }),
  }
}

function wireMessage(message: AssistantMessage, call: CallId): ChatCompletion['choices'][number]['message'] {
  const { content, toolCalls = [], malformedCalls = [], reasoning, refusal } = message
  const calls: WireToolCall[] = [
    ...toolCalls.map((made, i) => wireToolCall(made, `call_${call.slice(2)}_${i}`)),
    ...callsBeside(content, malformedCalls).map(({ text }, i) =>
      malformedCall(text, `call_${call.slice(2)}_${toolCalls.length + i}`),
    ),
  ]
  return {
    role: 'assistant',
    content: content === '' && (calls.length > 0 || refusal !== undefined) ? null : content,
    refusal: refusal ?? null,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
}

/** What `messagesOf` made `name(arguments)` of. */
function malformedCall(text: string, id: string): WireToolCall {
  const [, name = '', written = ''] = /^([^(]*)\(([\s\S]*)\)$/.exec(text) ?? []
  return { id, type: 'function', function: { name, arguments: written } }
}

/** What a stored trajectory tells of a call's answer; `null` when it has none. */
export function givenIn(
  { id, origin, nodes, steps }: Trajectory,
  call: CallId,
): (Given & { readonly endedAt: number }) | null {
  const messages = new Map(nodes.map((node) => [node.id, node.message]))
  const choices = steps.flatMap(({ action, call: made }) => {
    const message = messages.get(action)
    return made?.id === call && message?.role === 'assistant' ? [{ made, message }] : []
  })
  const [first] = choices
  if (!first) return null
  return {
    trajectory: id,
    call,
    servedModel: first.made.servedModel,
    startedAt: first.made.startedAt,
    endedAt: first.made.startedAt + first.made.totalMs,
    choices: choices.map(({ made, message }) => ({ index: made.choice, message, finish: made.finish })),
    usage: choices.find(({ made }) => made.usage !== null)?.made.usage ?? null,
    served: (origin.kind === 'traffic' ? origin.servedBy : null) ?? null,
  }
}
