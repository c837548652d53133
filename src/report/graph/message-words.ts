import { callInWords, type Message, toolCallsOf } from '../../core/index.ts'

/** What a message says, calls included, as one text. */
export function wordsOf(message: Message): string {
  const broken = message.role === 'assistant' ? (message.malformedCalls ?? []) : []
  return [message.content, ...toolCallsOf(message).map(callInWords), ...broken.map(({ text }) => text)]
    .filter((part) => part !== '')
    .join(' ')
}

/** Who speaks. */
export function speakerOf(message: Message): string {
  return message.role === 'tool' ? `tool ${message.name}` : message.role
}
