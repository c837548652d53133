import { type ChatRequest, type JsonBounds, maxJsonKeys, maxJsonValues, measureJson } from '../../core/index.ts'
import type { GatewayError } from '../errors.ts'
import { refusal } from './refusals.ts'

/**
 * What a request's body may hold, whatever its bytes: reading, checking, hashing and storing it costs by the value. Deeper
 * nesting is an attack on whoever walks the value, not data.
 */
export const bodyBounds = { depth: 128, values: maxJsonValues, keys: maxJsonKeys } as const satisfies JsonBounds

/** Refuses what {@link measureJson} says of a body. */
export function beyondBounds(excess: 'depth' | 'values' | 'keys'): GatewayError {
  const { depth, values, keys } = bodyBounds
  switch (excess) {
    case 'depth':
      return refusal(
        'json-too-deep',
        `The request's JSON nests deeper than ${depth} levels.`,
        'Send flatter data: nothing in this API needs such depth.',
      )
    case 'values':
      return tooManyValues(values)
    case 'keys':
      return refusal(
        'too-many-keys',
        `An object in the request's JSON has more than ${keys} keys.`,
        'Send fewer keys: nothing in this API needs so many.',
        { status: 413 },
      )
  }
}

const tooManyValues = (values: number) =>
  refusal(
    'too-many-values',
    `The request holds more than ${values} JSON values; those in the arguments of tool calls count.`,
    'Send less in one request: a shorter conversation, or several requests.',
    { status: 413 },
  )

/**
 * Holds the arguments of all tool calls together to what a body may hold: they are JSON within its texts, and are read
 * like it.
 * @throws GatewayError 413.
 */
export function assertArgumentsWithin({ messages }: ChatRequest): void {
  let values = 0
  for (const message of messages) {
    for (const call of message.role === 'assistant' ? (message.tool_calls ?? []) : []) {
      values += measureJson(call.function.arguments, bodyBounds).values
      if (values > bodyBounds.values) throw tooManyValues(bodyBounds.values)
    }
  }
}
