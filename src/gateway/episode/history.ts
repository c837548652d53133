import type { ChatHistory } from '../../core/index.ts'
import { type AttachPoint, turnEnds } from './attach.ts'
import type { Conversation } from './conversation.ts'
import { tokensTo } from './known-nodes.ts'

/**
 * The exact tokens of the conversation, where every one of them is known: its last assistant turn is ours, the prompt is
 * rendered as it was then, and nothing in it was redacted.
 */
export function historyIn(
  conversation: Conversation,
  candidates: readonly AttachPoint[],
  shape: string,
): ChatHistory | null {
  const [last] = turnEnds(conversation)
  if (last === undefined || conversation.redacted) return null
  for (const { node, messages } of candidates) {
    if (messages !== last + 1) return null
    const answer = node?.answer
    if (!answer?.sampled || answer.closedTurn === null || answer.prompt !== shape) continue
    return { messages, tokens: tokensTo(node), closedTurn: answer.closedTurn }
  }
  return null
}
