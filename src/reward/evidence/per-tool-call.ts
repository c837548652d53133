import { toolCallsOf } from '../../core/index.ts'
import type { RewardPart } from '../part.ts'
import { ownTurns } from '../turns.ts'

/** A part that adds `price` (usually negative) for every well-formed tool call of the episode. */
export function perToolCall(price: number): RewardPart {
  return {
    identity: `per-tool-call:${price}`,
    score: (trajectory) =>
      price * ownTurns(trajectory).reduce((calls, { message }) => calls + toolCallsOf(message).length, 0),
  }
}
