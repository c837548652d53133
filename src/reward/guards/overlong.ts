import { type OwnTurn, ownTurns } from '../turns.ts'
import type { Message } from '../../core/index.ts'
import type { Guard } from './guard.ts'

/**
 * Vetoes an episode with a turn of more than `tokens` tokens, thoughts included: length must not buy what sense does not.
 * Set it well above the longest honest answer: it tells a runaway from an answer, not a long answer from a short one.
 */
export function overlong({ tokens = 8_192 }: { readonly tokens?: number } = {}): Guard {
  return {
    name: 'overlong',
    identity: `overlong:${tokens}`,
    lasting: true,
    inspect(trajectory) {
      const longest = Math.max(0, ...ownTurns(trajectory).map(tokenCountOf))
      return longest > tokens ? `a turn has ${longest} tokens, more than ${tokens}` : null
    },
  }
}

/** Characters for which a token is counted where nobody tells how many there were. */
const charactersPerToken = 4

/** Tokens of a turn: as sampled, or else estimated by its length. */
export function tokenCountOf({ node, message }: OwnTurn): number {
  const sampled = node.spans.reduce((sum, { kind, tokens }) => sum + (kind === 'sampled' ? tokens.length : 0), 0)
  return sampled > 0 ? sampled : estimatedTokens(message)
}

/** Tokens of a message, by its length. */
export function estimatedTokens(message: Message): number {
  return Math.ceil(textsOf(message).reduce((sum, text) => sum + text.length, 0) / charactersPerToken)
}

function textsOf(message: Message): readonly string[] {
  if (message.role !== 'assistant') return [message.content]
  const calls = (message.toolCalls ?? []).map((call) => call.name + JSON.stringify(call.arguments))
  const broken = (message.malformedCalls ?? []).map(({ text }) => text)
  return [message.content, message.reasoning ?? '', message.refusal ?? '', ...calls, ...broken]
}
