import type {
  AssistantMessage,
  CallId,
  ChatRequest,
  FinishReason,
  ProducedTurn,
  Propensity,
  Span,
  TrajectoryNode,
} from '../../core/index.ts'
import type { AnsweredChoice } from '../ports.ts'
import type { Conversation, Point } from './conversation.ts'
import { answerNode } from './ids.ts'
import type { KnownNode } from './known-nodes.ts'
import { type Redacted, type Redaction, redactMessage } from './redaction/index.ts'
import { drawnOf } from './sampling.ts'

/** What a turn that we produced becomes. */
export interface AnsweredNode {
  readonly choice: AnsweredChoice
  readonly node: TrajectoryNode
  readonly propensity: Propensity
  /** By what the conversation is known again. */
  readonly turns: readonly ProducedTurn[]
  readonly known: KnownNode
}

/** Under what a turn was produced. */
export interface Answering {
  readonly call: CallId
  readonly request: ChatRequest
  readonly conversation: Conversation
  /** The last node that it read. */
  readonly parent: KnownNode | null
  /** Tokens that it read and that no node carries; `null` where its prompt's tokens are not kept. */
  readonly unplaced: readonly number[] | null
  readonly promptShape: string
  readonly ownDefaults: boolean
  readonly at: number
}

/** The answers that say something, or came to their end; of one index, the first. */
export function answersIn(choices: readonly AnsweredChoice[]): readonly AnsweredChoice[] {
  const byIndex = new Map<number, AnsweredChoice>()
  for (const choice of choices) {
    const { content, toolCalls, malformedCalls, reasoning, refusal } = choice.message
    const says = content !== '' || [toolCalls, malformedCalls, reasoning, refusal].some((part) => part?.length)
    if ((says || choice.finish !== null) && !byIndex.has(choice.index)) byIndex.set(choice.index, choice)
  }
  return [...byIndex.values()]
}

/** One answer, as it may be written, and where the conversation is after it. */
export interface Said {
  readonly choice: AnsweredChoice
  readonly message: Redacted<AssistantMessage>
  readonly point: Point
}

/** The node of one answer. Tokens that would tell what was redacted are not kept. */
export function answeredNode({ choice, message, point }: Said, answering: Answering): AnsweredNode {
  const { call, request, conversation, parent, unplaced, ownDefaults, at } = answering
  const { span, propensity } = drawnOf(choice, request, ownDefaults)
  const spans: Span[] =
    span === null || unplaced === null || message.changed
      ? []
      : [...(unplaced.length > 0 ? [{ kind: 'encoded' as const, tokens: [...unplaced] }] : []), span]
  const id = answerNode(call, choice.index)
  const calls = point.spoken?.calls ?? []
  const digests = [point.exact, ...(calls.length > 0 && point.loose !== null ? [point.loose] : [])]
  return {
    choice,
    node: { id, parent: parent?.id ?? null, message: message.value, spans, at },
    propensity,
    turns: digests.map((digest) => ({ digest, node: id })),
    known: {
      id,
      parent,
      tokens: tokensOf(spans),
      opening: conversation.opening,
      answer: {
        calls,
        prompt: answering.promptShape,
        sampled: spans.length > 0,
        closedTurn: choice.closedTurn ?? closedTurn(choice.finish, (request.stop ?? null) !== null),
      },
      continued: false,
      answered: false,
    },
  }
}

/**
 * Whether the policy closed a turn, by the reason that its answer ended for. A stop sequence ends an answer, and says the
 * same as the policy's own end.
 */
export function closedTurn(finish: FinishReason, stopSequences: boolean): boolean | null {
  if (finish === 'length') return false
  return (finish === 'stop' || finish === 'tool_calls') && !stopSequences ? true : null
}

export function tokensOf(spans: readonly Span[]): Uint32Array | null {
  return spans.length === 0 ? null : Uint32Array.from(spans.flatMap(({ tokens }) => tokens))
}

/** What a rule would find may have begun in the last characters of half an answer. */
const heldBack = 64

/** What an answer says, as it may be written. */
export function recordedMessage({ message, finish }: AnsweredChoice, redaction: Redaction): Redacted<AssistantMessage> {
  const redacted = redactMessage(message, redaction)
  if (finish !== null || !redaction.active) return redacted
  return { value: withoutEnd(redacted.value), changed: true }
}

function withoutEnd(message: AssistantMessage): AssistantMessage {
  const { toolCalls, malformedCalls, reasoning, refusal, ...rest } = message
  const cut = (text: string) => text.slice(0, Math.max(0, text.length - heldBack))
  const calls = (malformedCalls ?? []).length > 0 ? toolCalls : toolCalls?.slice(0, -1)
  const thought = cut(reasoning ?? '')
  const refused = cut(refusal ?? '')
  return {
    ...rest,
    content: cut(message.content),
    ...(calls && calls.length > 0 ? { toolCalls: calls } : {}),
    ...(thought === '' ? {} : { reasoning: thought }),
    ...(refused === '' ? {} : { refusal: refused }),
  }
}
