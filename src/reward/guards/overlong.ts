import { type OwnTurn, ownTurns } from '../turns.ts'
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
      const longest = Math.max(0, ...ownTurns(trajectory).map(tokensOf))
      return longest > tokens ? `a turn has ${longest} tokens, more than ${tokens}` : null
    },
  }
}

/** Characters for which a token is counted where nobody tells how many there were. */
const charactersPerToken = 4

/** Tokens of a turn: as sampled, or else estimated by its length. */
export function tokensOf({ node, message }: OwnTurn): number {
  const sampled = node.spans.reduce((sum, { kind, tokens }) => sum + (kind === 'sampled' ? tokens.length : 0), 0)
  if (sampled > 0) return sampled
  const calls = (message.toolCalls ?? []).map((call) => call.name + JSON.stringify(call.arguments))
  const broken = (message.malformedCalls ?? []).map(({ text }) => text)
  const said = [message.content, message.reasoning ?? '', message.refusal ?? '', ...calls, ...broken]
  return Math.ceil(said.reduce((sum, text) => sum + text.length, 0) / charactersPerToken)
}
