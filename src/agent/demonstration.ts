import type { Demonstration, Message, Renderer, ToolDefinition } from '../core/index.ts'
import { AgentError } from './errors.ts'

/**
 * A conversation as tokens to imitate: what the assistant said is to be learned, the rest is context. The tokens are
 * those that an episode would hold, had the policy sampled the assistant's turns.
 * @throws AgentError when the assistant says nothing in it.
 */
export function demonstration(
  messages: readonly Message[],
  tools: readonly ToolDefinition[],
  renderer: Renderer,
): Demonstration {
  const tokens: number[] = []
  const learn: boolean[] = []
  const add = (rendered: readonly number[], acted: boolean) => {
    tokens.push(...rendered)
    learn.push(...rendered.map(() => acted))
  }
  let shown: Message[] = []
  let spoken = false
  for (const message of messages) {
    if (message.role !== 'assistant') {
      shown.push(message)
      continue
    }
    add(spoken ? renderer.extend(shown, true) : renderer.start(shown, tools), false)
    add(renderer.renderAssistant(message, tools), true)
    shown = []
    spoken = true
  }
  if (spoken) return { tokens, learn }
  throw new AgentError({
    code: 'agent/empty-demonstration',
    message: 'A demonstration holds no turn of the assistant.',
    hint: 'Give conversations in which the assistant acts.',
  })
}
