import type { ChatChunk } from './chat-completion.ts'
import { mostChoices } from './chat-request.ts'

type Fields = { readonly [name: string]: unknown }

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

const isTextOrNone = (value: unknown) => value === undefined || value === null || typeof value === 'string'

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !Object.hasOwn(value, '__proto__')

function hasNone(fields: Fields, names: readonly string[]): boolean {
  for (const name of names) if (fields[name] !== undefined && fields[name] !== null) return false
  return true
}
