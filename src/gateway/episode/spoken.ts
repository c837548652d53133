import type { AssistantMessage, Json, MalformedCall, Message } from '../../core/index.ts'

/**
 * What an assistant turn says, without what clients change when they send it back. Checked against the real SDKs
 * (`recognition.clients.test.ts`): content is `null` or empty, text is a string or a list of parts, arguments are written
 * anew, calls whose arguments cannot be read become calls without arguments or vanish, reasoning and refusals are left
 * out, and one turn comes back as two messages, its text and its calls.
 */
export interface Spoken {
  /** How many messages it came as. */
  readonly messages: number
  readonly text: string
  readonly calls: readonly SpokenCall[]
  /** Parts of other kinds than text. */
  readonly other: readonly Json[]
}

/** One tool call of a turn. */
export interface SpokenCall {
  readonly id: string | null
  readonly name: string
  /** `null` when they could not be read. */
  readonly arguments: Readonly<Record<string, Json>> | null
}

/** Parts of an assistant's content that are beside what it says. */
const aside: ReadonlySet<unknown> = new Set(['refusal', 'reasoning', 'thinking', 'redacted_thinking'])

/**
 * Looking for unreadable calls in the text compares so many characters, at most: a hostile client's text and calls make
 * each search as long as the product of their lengths.
 */
const mostCompared = 20_000_000

export function spokenOf(message: AssistantMessage): Spoken {
  const { content, toolCalls = [], malformedCalls = [] } = message
  return {
    messages: 1,
    text: content,
    calls: [
      ...toolCalls.map((call) => ({ id: call.id ?? null, name: call.name, arguments: call.arguments })),
      ...callsBeside(content, malformedCalls).map(({ text }) => ({
        id: null,
        name: text.split('(', 1)[0] ?? '',
        arguments: null,
      })),
    ],
    other: otherParts(message).filter((part) => !aside.has(part['type'])),
  }
}

/**
 * Unreadable calls that are no part of the text: of a model that writes its calls into its text, what is no call stays
 * text. One that is too long to be looked for counts as none of the text's.
 */
export function callsBeside(content: string, calls: readonly MalformedCall[]): readonly MalformedCall[] {
  let left = mostCompared
  return calls.filter(({ text }) => {
    left -= content.length * text.length
    return left < 0 || !content.includes(text)
  })
}

/** One turn that came as several messages. */
export function joined(first: Spoken, second: Spoken): Spoken {
  return {
    messages: first.messages + second.messages,
    text: first.text + second.text,
    calls: [...first.calls, ...second.calls],
    other: [...first.other, ...second.other],
  }
}

/** Parts of other kinds than text: pictures, sound, files. */
export function otherParts({ parts = [] }: Message): readonly Readonly<Record<string, Json>>[] {
  return parts.filter(({ type }) => type !== 'text')
}

const saysNothing = (call: SpokenCall) => call.arguments === null || Object.keys(call.arguments).length === 0

/** What is equal for turns that say the same. */
export function spokenForm({ text, calls, other }: Spoken): Json {
  return [
    'assistant',
    text,
    calls.map((call) => (saysNothing(call) ? [call.name] : [call.id, call.name, call.arguments])),
    other,
  ]
}

/** What is equal for turns that may say the same: {@link saysTheSame} tells. */
export function looseForm({ text, other }: Spoken): Json {
  return ['assistant?', text, other]
}

/**
 * Whether `sent` are the calls of a turn as an SDK sends them back, where its text is equal: it validated the arguments of calls, which
 * adds defaults and drops what the tool does not know, and left out or emptied calls that it could not read. Whoever
 * changes the value of an argument says something else.
 */
export function saysTheSame(said: readonly SpokenCall[], sent: readonly SpokenCall[]): boolean {
  const calls = [...said]
  for (const call of sent) {
    let next = calls.shift()
    while (next && !isSameCall(next, call)) {
      if (!saysNothing(next)) return false
      next = calls.shift()
    }
    if (!next) return false
  }
  return calls.every(saysNothing)
}

function isSameCall(said: SpokenCall, sent: SpokenCall): boolean {
  if (said.name !== sent.name || (said.id !== null && sent.id !== null && said.id !== sent.id)) return false
  if (said.arguments === null) return saysNothing(sent)
  return sent.arguments !== null && agree(said.arguments, sent.arguments)
}

const isObject = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isList = (value: Json): value is readonly Json[] => Array.isArray(value)

/** Whether two values are equal wherever both say something. */
function agree(a: Json, b: Json): boolean {
  if (isObject(a) && isObject(b)) {
    return Object.entries(a).every(([key, value]) => {
      const other = Object.hasOwn(b, key) ? b[key] : undefined
      return other === undefined || agree(value, other)
    })
  }
  if (isList(a) && isList(b)) {
    return a.length === b.length && a.every((item, i) => agree(item, b[i] ?? null))
  }
  return a === b
}
