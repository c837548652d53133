import type { WireMessage, WirePart, WireToolCall } from '../../core/index.ts'
import { parseRequest } from '../http/parse-request.ts'
import { refusal } from '../http/refusals.ts'
import {
  Audio,
  type FunctionCallItem,
  type FunctionCallOutputItem,
  inputItems,
  type InputPart,
  type MessageItem,
  type ResponsesRequest,
} from './responses-request.ts'
import { unsupported } from './unsupported.ts'

type AssistantMessage = Extract<WireMessage, { role: 'assistant' }>

/**
 * The conversation of a request to the Responses API, as chat messages. What the model said in one turn comes as several
 * items (its words, then each call) and is one message again.
 * @throws GatewayError 400 for items that cannot be understood.
 */
export function messagesFrom({ instructions, input }: ResponsesRequest): WireMessage[] {
  const messages: WireMessage[] = instructions ? [{ role: 'system', content: instructions }] : []
  if (typeof input === 'string') return [...messages, { role: 'user', content: input }]
  // The turn that calls may still be added to.
  let turn: AssistantMessage | null = null
  for (const [i, item] of input.entries()) {
    const at = ['input', i]
    switch (item.type) {
      case undefined:
      case 'message': {
        const message = messageFrom(parseRequest(inputItems.message, item, at), i)
        turn = message.role === 'assistant' ? message : null
        messages.push(message)
        break
      }
      case 'function_call': {
        const call = toolCallFrom(parseRequest(inputItems.function_call, item, at))
        if (turn === null) messages.push((turn = { role: 'assistant', content: null }))
        // Added to in place: a hostile client's turn has a hundred thousand calls.
        if (turn.tool_calls) turn.tool_calls.push(call)
        else turn.tool_calls = [call]
        break
      }
      case 'function_call_output':
        turn = null
        messages.push(toolMessageFrom(parseRequest(inputItems.function_call_output, item, at), i))
        break
      case 'reasoning':
        break
      case 'item_reference':
        throw refusal(
          'stateless',
          'This gateway keeps no items, so it cannot look up an "item_reference".',
          'Send the item itself.',
          { param: `input.${i}` },
        )
      default:
        throw unsupported(
          'An input item',
          item.type,
          `input.${i}.type`,
          `Send items of the types ${Object.keys(inputItems).join(', ')}.`,
        )
    }
  }
  return messages
}

function messageFrom({ role, content }: MessageItem, item: number): WireMessage {
  if (role !== 'assistant') return { role, content: contentFrom(content, `input.${item}.content`) }
  if (typeof content === 'string') return { role, content }
  const refusals = content.flatMap(({ type, refusal }, i) =>
    type === 'refusal' ? [textIn(refusal, `input.${item}.content.${i}.refusal`)] : [],
  )
  const rest = content.filter(({ type }) => type !== 'refusal')
  return {
    role,
    content: rest.length === 0 ? null : contentFrom(rest, `input.${item}.content`),
    ...(refusals.length > 0 ? { refusal: refusals.join('') } : {}),
  }
}

const toolCallFrom = ({ call_id, name, arguments: text }: FunctionCallItem): WireToolCall => ({
  id: call_id,
  type: 'function',
  function: { name, arguments: text },
})

const toolMessageFrom = ({ call_id, output }: FunctionCallOutputItem, item: number): WireMessage => ({
  role: 'tool',
  tool_call_id: call_id,
  content: contentFrom(output, `input.${item}.output`),
})

/** Texts alone are one text, as chat clients would send it. */
function contentFrom(content: string | readonly InputPart[], at: string): string | WirePart[] {
  if (typeof content === 'string') return content
  const parts = content.map((part, i) => partFrom(part, `${at}.${i}`))
  const [only] = parts
  return parts.length === 1 && only?.type === 'text' ? String(only['text']) : parts
}

function partFrom(part: InputPart, at: string): WirePart {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: textIn(part['text'], `${at}.text`) }
    case 'input_image': {
      const url = textIn(part['image_url'], `${at}.image_url`)
      return { type: 'image_url', image_url: { url, ...(part['detail'] ? { detail: part['detail'] } : {}) } }
    }
    case 'input_audio':
      return { type: 'input_audio', input_audio: parseRequest(Audio, part['input_audio'], [`${at}.input_audio`]) }
    case 'input_file': {
      const { file_data, filename } = part
      return {
        type: 'file',
        file: { file_data: textIn(file_data, `${at}.file_data`), ...(filename ? { filename } : {}) },
      }
    }
    default:
      throw unsupported(
        'A content part',
        part.type,
        `${at}.type`,
        'Send input_text, input_image (with a URL), input_file (with its data) or input_audio.',
      )
  }
}

function textIn(value: unknown, at: string): string {
  if (typeof value === 'string') return value
  throw refusal(
    'invalid-request',
    `The request's body is not valid at ${at}: expected text.`,
    'Send it in the request: this gateway keeps no files.',
    {
      param: at,
    },
  )
}
