import type { Action, AssistantMessage, Episode, Message, StopReason } from '../core/index.ts'
import { Conversation } from './conversation.ts'
import type { WeightsBinding } from './binding.ts'

/** How an episode's tool loop ended, and the last thing the policy said. */
export interface ActOutcome {
  readonly stopReason: StopReason
  readonly message: AssistantMessage | null
}

const actionOf = ({ toolCalls, content }: AssistantMessage): Action =>
  toolCalls && toolCalls.length > 0 ? { kind: 'calls', calls: toolCalls } : { kind: 'message', content }

const complaints = ({ malformedCalls }: AssistantMessage): Message[] =>
  (malformedCalls ?? []).map(({ problem }) => ({ role: 'tool', name: 'call', content: problem, isError: true }))

/**
 * The policy speaks, its calls are carried out, their results are shown, and so on, until the environment says that
 * the episode is done or a budget is spent. Calls that cannot be read are shown back as errors, within their budget.
 */
export async function toolLoop(
  parameter: string,
  binding: WeightsBinding,
  opening: readonly Message[],
  episode: Episode,
): Promise<ActOutcome> {
  const { budget, sampler, signal, now } = binding
  const deadline = budget.seconds === undefined ? Number.POSITIVE_INFINITY : now() + budget.seconds * 1000
  const conversation = new Conversation(parameter, binding, opening, episode.tools)
  let [tokens, malformed, toolErrors] = [0, 0, 0]
  let message: AssistantMessage | null = null

  for (let turn = 0; turn < budget.turns; turn++) {
    const room = Math.min(budget.tokensPerTurn, budget.tokens - tokens)
    if (room < 1) return { stopReason: 'token-budget', message }
    if (conversation.length + room > sampler.capabilities.contextLength)
      return { stopReason: 'context-length', message }
    if (now() > deadline) return { stopReason: 'time-budget', message }

    const said = await conversation.next(room)
    message = said.message
    tokens += said.tokens
    if (said.stopReason === 'cancelled' || signal?.aborted) return { stopReason: 'cancelled', message }

    const broken = complaints(message)
    malformed += broken.length
    if (malformed >= budget.malformedCalls && broken.length > 0) return { stopReason: 'malformed-call', message }
    if (broken.length > 0) {
      conversation.show(broken, said.step)
      continue
    }

    const outcome = await episode.step(actionOf(message))
    if (outcome.done) {
      conversation.end(outcome.messages, said.step)
      return { stopReason: 'done', message }
    }
    toolErrors += outcome.messages.filter((m) => m.role === 'tool' && m.isError === true).length
    if (toolErrors >= budget.toolErrors) {
      conversation.end(outcome.messages, said.step)
      return { stopReason: 'tool-errors', message }
    }
    conversation.show(outcome.messages, said.step)
  }
  return { stopReason: 'turn-budget', message }
}
