import type { ChatHistory, Message, Renderer, ToolDefinition } from '../../core/index.ts'
import { RatchetError } from '../../errors/index.ts'
import type { Asked } from './asked.ts'
import { refused } from './failures.ts'

/**
 * No text has more bytes than this to a token, on average (English has about 4). What is longer than a context full of
 * such tokens is refused before it is tokenized, which takes a second for each megabyte.
 */
const bytesPerToken = 32

/** What the policy reads, and whether its history was read before. */
export interface PromptRequest extends Pick<Asked, 'messages' | 'tools' | 'mayCall'> {
  readonly history: ChatHistory | null
}

/**
 * The tokens of a prompt. A conversation whose exact tokens are known is continued: what the policy sampled is never
 * rendered again. It is rendered anew when that cannot express it: other tools, or turns of an assistant that the
 * history does not hold.
 * @throws UpstreamError `refused` for messages that the renderer cannot show, and for a prompt that fills the context.
 */
export function promptTokens(
  renderer: Renderer,
  request: PromptRequest,
  { contextLength, upstream }: { readonly contextLength: number; readonly upstream: string },
): readonly number[] {
  if (leastTokens(request) > contextLength) throw tooLong(upstream, contextLength, `more than ${contextLength}`)
  const tokens = unlessUnshowable(() => continued(renderer, request)) ?? opened(renderer, request, upstream)
  if (tokens.length < contextLength) return tokens
  throw tooLong(upstream, contextLength, String(tokens.length))
}

/** A bound on what reading the messages can come to, found without reading them. */
function leastTokens({ messages, tools }: PromptRequest): number {
  const text = JSON.stringify([messages.map((message) => ({ ...message, parts: undefined })), tools])
  return Math.max(messages.length, Buffer.byteLength(text) / bytesPerToken)
}

/** The whole conversation as the renderer shows it. */
function opened(renderer: Renderer, { messages, tools, mayCall }: PromptRequest, upstream: string): readonly number[] {
  try {
    return renderer.start(messages, mayCall ? tools : [])
  } catch (cause) {
    if (!isUnshowable(cause)) throw cause
    throw refused(upstream, {
      code: 'unsupported_messages',
      param: 'messages',
      message: `This model cannot be shown these messages: ${cause.message}`,
      hint: 'Check the order of their roles, and what the assistant says in them.',
    })
  }
}

/** The renderers' errors about messages. */
const unshowable: ReadonlySet<string> = new Set(['model/unusable-template', 'model/unrenderable-message'])

const isUnshowable = (error: unknown): error is RatchetError => RatchetError.is(error) && unshowable.has(error.code)

function unlessUnshowable<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if (isUnshowable(error)) return null
    throw error
  }
}

/** The history and what follows it; `null` where that is not this conversation. */
function continued(renderer: Renderer, { messages, tools, mayCall, history }: PromptRequest): readonly number[] | null {
  if (history === null || messages[history.messages - 1]?.role !== 'assistant') return null
  const next = messages.slice(history.messages)
  if (next.some(({ role }) => role === 'assistant')) return null
  // A policy that must not call tools now may have been shown them before.
  const shown = mayCall || tools.length === 0 ? [tools] : [tools, []]
  if (!shown.some((these) => opensWith(renderer, history.tokens, messages, these))) return null
  return [...history.tokens, ...renderer.extend(next, closedTurn(renderer, history))]
}

/** Whether a conversation began with these messages and tools: what comes before the policy's first turn is the same. */
function opensWith(
  renderer: Renderer,
  tokens: readonly number[],
  messages: readonly Message[],
  tools: readonly ToolDefinition[],
): boolean {
  const first = messages.findIndex(({ role }) => role === 'assistant')
  if (first === 0) return false
  const opening = renderer.start(messages.slice(0, first), tools)
  // What prompts the policy to speak may be shown otherwise where its turns were rendered, not sampled.
  const end = opening.findLastIndex((token) => renderer.stop.tokens.includes(token)) + 1
  return (end > 0 ? opening.slice(0, end) : opening).every((token, i) => tokens[i] === token)
}

/** Renderers whose turns end with a token can tell; the history's own word counts for others. */
function closedTurn(renderer: Renderer, { tokens, closedTurn: told }: ChatHistory): boolean {
  const last = tokens.at(-1)
  if (renderer.stop.tokens.length === 0) return told
  return last !== undefined && renderer.stop.tokens.includes(last)
}

/** A prompt that leaves no token of the context for an answer. */
export function tooLong(upstream: string, contextLength: number, found: string) {
  return refused(upstream, {
    code: 'context_length_exceeded',
    param: 'messages',
    message: `This model's maximum context length is ${contextLength} tokens. However, your messages resulted in ${found} tokens.`,
    hint: 'Please reduce the length of the messages.',
  })
}
