import type { ChatChunk } from './chat-completion.ts'
import { mostChoices } from './chat-request.ts'
import { hasNone, isFields, isTextOrNone } from './plain-fields.ts'

/** Fields that only chunks of another kind have: what they hold is for the schema to say. */
const rare = {
  chunk: ['usage', 'prompt_token_ids'],
  choice: ['logprobs', 'token_ids', 'engine'],
  delta: ['tool_calls'],
} as const
const texts = ['role', 'content', 'refusal', 'reasoning_content'] as const

/**
 * The value itself where it is a chunk that says words and nothing else, as nearly all of a stream are: a streaming gateway
 * checks thousands a second, and the schema costs ten times as much.
 * @returns `null` where `ChatChunk` has to say what it is.
 */
export function plainChunk(value: unknown): ChatChunk | null {
  if (!isFields(value) || !hasNone(value, rare.chunk)) return null
  const { id, object, created, model, choices } = value
  if (typeof id !== 'string' || typeof model !== 'string' || object !== 'chat.completion.chunk') return null
  if (!Number.isFinite(created) || !Array.isArray(choices) || choices.length > mostChoices) return null
  for (const choice of choices) if (!isPlainChoice(choice)) return null
  return value as unknown as ChatChunk
}

function isPlainChoice(choice: unknown): boolean {
  if (!isFields(choice) || !hasNone(choice, rare.choice)) return false
  const { index, delta, finish_reason } = choice
  if (!Number.isSafeInteger(index) || (index as number) < 0 || !isTextOrNone(finish_reason)) return false
  if (!isFields(delta) || !hasNone(delta, rare.delta)) return false
  for (const name of texts) if (!isTextOrNone(delta[name])) return false
  return true
}
