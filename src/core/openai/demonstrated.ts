import { z } from 'zod'
import type { DemonstratedEpisode } from '../demonstration.ts'
import { Message } from '../message.ts'
import { parseInput } from '../parse.ts'
import { WireMessage } from './chat-request.ts'
import { messagesOf } from './messages.ts'

const mistakes = z.array(z.int().nonnegative()).exactOptional()

/** A demonstration in our words. */
const Ours = z.strictObject({ messages: z.array(Message).min(2), mistakes })

/** What was the assistant's way to call before there were tools. */
const earlier = 'this is the older form of a call: write it as `tool_calls`'

/** A conversation in the OpenAI API's words, with whatever a recorder or a fine-tuning file has beside its messages. */
const OpenAI = z.looseObject({
  messages: z
    .array(WireMessage.refine((message) => !message['function_call'], { path: ['function_call'], error: earlier }))
    .min(2),
  mistakes,
})

const keysOfOurs = ['toolCalls', 'malformedCalls', 'toolCallId', 'isError', 'parts']
const keysOfOpenAI = ['tool_calls', 'tool_call_id', 'function_call', 'weight']

/**
 * A demonstration from what was recorded: `{ messages }`, or the messages alone. They are in Ratchet's words, or in those of
 * the OpenAI API's chat completions (`tool_calls` with JSON text as arguments, answered by `tool_call_id`; `content` may be
 * `null`). Of the latter, a turn of the assistant with the `weight` 0 is one of the {@link DemonstratedEpisode.mistakes}.
 * @param what names the recording for people: `line 3 of recorded.jsonl`.
 * @throws InputError (`input/invalid`) with everything that is wrong with it.
 */
export function demonstrationFrom(recorded: unknown, what = 'the recording'): DemonstratedEpisode {
  const value: unknown = Array.isArray(recorded) ? { messages: recorded } : recorded
  if (!isOpenAI(value)) return parseInput(Ours, value, what)
  const { messages, mistakes: given } = parseInput(OpenAI, value, what)
  const unlearned = messages.flatMap(({ role, weight }, i) => (role === 'assistant' && weight === 0 ? [i] : []))
  const wrong = given ?? unlearned
  return { messages: messagesOf(messages), ...(wrong.length > 0 ? { mistakes: wrong } : {}) }
}

/** What only one of the two has tells. Where nothing does, both read the same messages: ours read nothing beside them. */
function isOpenAI(value: unknown): boolean {
  const messages = objectsIn(value)
  const has = (keys: readonly string[]) => messages.some((message) => keys.some((key) => message[key] !== undefined))
  if (has(keysOfOurs)) return false
  return has(keysOfOpenAI) || !Ours.safeParse(value).success
}

function objectsIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  const messages = typeof value === 'object' && value !== null && 'messages' in value ? value.messages : null
  return Array.isArray(messages) ? messages.filter((one) => typeof one === 'object' && one !== null) : []
}
