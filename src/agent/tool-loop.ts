import type { Action, AssistantMessage, Episode, Message, StopReason } from '../core/index.ts'
import type { Conversation } from './conversation.ts'
import type { Meter } from './meter.ts'

/** What a tool loop leads: a conversation, or one that is kept within a budget. */
export interface Led extends Pick<Conversation, 'next' | 'end' | 'acts'> {
  /** Tokens that the next policy call will read; infinite where nothing brings them within their budget. */
  readonly length: number
  /** Shows messages to the policy. A promise only where there is something to wait for. */
  show(messages: readonly Message[], step: number): void | Promise<void>
}

/** How an episode's tool loop ended, and the last thing the policy said. */
export interface ActOutcome {
  readonly stopReason: StopReason
  readonly message: AssistantMessage | null
}

const actionOf = ({ toolCalls, content }: AssistantMessage): Action =>
  toolCalls && toolCalls.length > 0 ? { kind: 'calls', calls: toolCalls } : { kind: 'message', content }

const complaints = ({ malformedCalls }: AssistantMessage): Message[] =>
  (malformedCalls ?? []).map(({ problem }) => ({ role: 'tool', name: 'call', content: problem, isError: true }))

const errors = (messages: readonly Message[]): number =>
  messages.filter((message) => message.role === 'tool' && message.isError === true).length

/**
 * The policy speaks, its calls are carried out, their results are shown, and so on, until the environment says that
 * the episode is done or a budget is spent. Calls that cannot be read are shown back as errors, within their budget.
 * A message that its budget cut off is not one that the policy ended: it is no action, and ends the episode.
 */
export async function toolLoop(conversation: Led, meter: Meter, episode: Pick<Episode, 'step'>): Promise<ActOutcome> {
  let message: AssistantMessage | null = null
  let stopReason = meter.stop(conversation.length)

  while (stopReason === null) {
    const said = await conversation.next(meter.room)
    message = said.message
    meter.spend(said.tokens.length)
    if (said.stopReason === 'cancelled') return { stopReason: 'cancelled', message }

    const broken = complaints(message)
    if (meter.malformed(broken.length)) return { stopReason: 'malformed-call', message }

    if (broken.length > 0) {
      const shown = conversation.show(broken, said.step)
      if (shown) await shown
    } else {
      const action = actionOf(message)
      if (action.kind === 'message' && said.stopReason === 'length') return { stopReason: 'token-budget', message }

      conversation.acts(action, message)
      const { messages, done } = await episode.step(action, meter.deadline())
      const spent = meter.failed(errors(messages))
      if (done || spent) {
        conversation.end(messages, said.step)
        return { stopReason: done ? 'done' : 'tool-errors', message }
      }
      const shown = conversation.show(messages, said.step)
      if (shown) await shown
    }
    stopReason = meter.stop(conversation.length)
  }
  return { stopReason, message }
}
