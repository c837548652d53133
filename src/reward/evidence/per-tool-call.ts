import type { RewardPart } from '../part.ts'

/** A part that adds `price` (usually negative) for every well-formed tool call of the episode. */
export function perToolCall(price: number): RewardPart {
  return {
    identity: `per-tool-call:${price}`,
    score: ({ nodes }) => {
      let calls = 0
      for (const { message } of nodes) if (message.role === 'assistant') calls += message.toolCalls?.length ?? 0
      return price * calls
    },
  }
}
