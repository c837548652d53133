import type { Demonstration, Message, Renderer, ToolDefinition } from '../core/index.ts'
import { InputError, RatchetError } from '../errors/index.ts'
import { AgentError } from './errors.ts'

/**
 * A conversation as tokens to imitate: what the assistant said is to be learned, the rest is context. The tokens are
 * those that an episode would hold, had the policy sampled the assistant's turns.
 * @param mistakes messages of the assistant, by their index, that are read and not learned.
 * @throws AgentError when the assistant says nothing in it, or a mistake is not the assistant's.
 * @throws InputError that names the message, when the renderer's form cannot express one of the assistant's.
 */
export function demonstration(
  messages: readonly Message[],
  tools: readonly ToolDefinition[],
  renderer: Renderer,
  mistakes: readonly number[] = [],
): Demonstration {
  const stray = mistakes.find((index) => messages[index]?.role !== 'assistant')
  if (stray !== undefined) {
    throw new AgentError({
      code: 'agent/stray-mistake',
      message: `Message ${stray} of a demonstration is called a mistake, and it is none of the assistant's.`,
      hint: 'Give indexes into messages, from 0, of turns of the assistant.',
    })
  }
  const first = messages.findIndex(({ role }) => role === 'assistant')
  const opening = first < 0 ? messages : messages.slice(0, first)
  const wrong = new Set(mistakes.map((index) => messages[index]))
  try {
    return continued(renderer.start(opening, tools), messages.slice(opening.length), tools, renderer, wrong)
  } catch (error) {
    throw placed(error, messages, tools, renderer)
  }
}

/** An error of the renderer's with the message that it is about; any other as it is. */
function placed(
  error: unknown,
  messages: readonly Message[],
  tools: readonly ToolDefinition[],
  renderer: Renderer,
): unknown {
  for (const [i, message] of messages.entries()) {
    if (message.role !== 'assistant') continue
    try {
      renderer.renderAssistant(message, tools)
    } catch (cause) {
      if (!RatchetError.is(cause)) return error
      return new InputError({
        code: cause.code,
        message: `Message ${i + 1}: ${cause.message}`,
        hint: cause.hint,
        cause,
      })
    }
  }
  return error
}

/**
 * Turns that go on from a context as it was read, as tokens to imitate. The context is not touched, so that it stays
 * what the policy reads: rendered anew, its tokens could be others.
 * @param context tokens that are ready for the policy's first one.
 * @param turns begin with a turn of the assistant's.
 * @param wrong turns that are read and not learned.
 * @throws AgentError when they do not.
 */
export function continued(
  context: readonly number[],
  turns: readonly Message[],
  tools: readonly ToolDefinition[],
  renderer: Renderer,
  wrong: ReadonlySet<Message | undefined> = new Set(),
): Demonstration {
  if (turns[0]?.role !== 'assistant') {
    throw new AgentError({
      code: 'agent/empty-demonstration',
      message: 'A demonstration holds no turn of the assistant.',
      hint: 'Give conversations in which the assistant acts.',
    })
  }
  const tokens = [...context]
  const learn = context.map(() => false)
  const add = (rendered: readonly number[], acted: boolean) => {
    for (const token of rendered) {
      tokens.push(token)
      learn.push(acted)
    }
  }
  let shown: Message[] | null = null
  for (const message of turns) {
    if (message.role === 'assistant') {
      if (shown !== null) add(renderer.extend(shown, true), false)
      add(renderer.renderAssistant(message, tools), !wrong.has(message))
      shown = []
    } else shown?.push(message)
  }
  return { tokens, learn }
}
