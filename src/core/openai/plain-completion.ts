import type { ChatCompletion } from './chat-completion.ts'
import { mostChoices } from './chat-request.ts'
import { type Fields, hasNone, isFields, isTextOrNone } from './plain-fields.ts'

/** Fields that only answers of another kind have: what they hold is for the schema to say. */
const rare = {
  completion: ['prompt_token_ids'],
  choice: ['logprobs', 'token_ids', 'engine', 'prompt_token_ids'],
  message: ['tool_calls'],
} as const
const texts = ['content', 'refusal', 'reasoning_content'] as const

/**
 * The value itself where it is a whole answer that says words and nothing else, as most are: the schema costs ten times as
 * much.
 * @returns `null` where `ChatCompletion` has to say what it is.
 */
export function plainCompletion(value: unknown): ChatCompletion | null {
  if (!isFields(value) || !hasNone(value, rare.completion)) return null
  const { id, object, created, model, choices, usage } = value
  if (typeof id !== 'string' || typeof model !== 'string' || object !== 'chat.completion') return null
  if (!Number.isFinite(created) || !Array.isArray(choices) || choices.length > mostChoices) return null
  for (const choice of choices) if (!isPlainChoice(choice)) return null
  return isPlainUsage(usage) ? (value as unknown as ChatCompletion) : null
}

function isPlainChoice(choice: unknown): boolean {
  if (!isFields(choice) || !hasNone(choice, rare.choice)) return false
  const { index, message, finish_reason } = choice
  if (!isCount(index) || !isTextOrNone(finish_reason)) return false
  if (!isFields(message) || message['role'] !== 'assistant' || !hasNone(message, rare.message)) return false
  for (const name of texts) if (!isTextOrNone(message[name])) return false
  return true
}

function isPlainUsage(usage: unknown): boolean {
  if (usage === undefined || usage === null) return true
  if (!isFields(usage)) return false
  const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details: details } = usage
  if (!isCount(prompt_tokens) || !isCount(completion_tokens)) return false
  if (total_tokens !== undefined && !isCount(total_tokens)) return false
  return details === undefined || details === null || (isFields(details) && isCountOrNone(details))
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0

const isCountOrNone = ({ cached_tokens: cached }: Fields) => cached === undefined || cached === null || isCount(cached)
