import { type Message, printable, type ToolCall } from '../core/index.ts'

/** What a tool says to one call. */
export interface Reply {
  readonly content: string
  /** Set where the call changed and showed nothing. */
  readonly isError?: true
}

/** A reply as a message, addressed to the call. */
export function replyMessage(call: ToolCall, reply: Reply): Message {
  return {
    role: 'tool',
    name: printable(call.name),
    ...(call.id === undefined ? {} : { toolCallId: call.id }),
    ...reply,
  }
}
