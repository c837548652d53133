import type { ChatChunk, ChatRequest } from '../../core/index.ts'
import { errorIn } from '../http/problem.ts'
import type { Wire, WireStream } from './wire.ts'

/** The chat completions API. `id` is the record's. */
export function chatWire(request: ChatRequest, id: string): Wire {
  const wantsTokens = request.return_token_ids === true
  const wantsLogprobs = request.logprobs === true
  const wantsUsage = request.stream_options?.include_usage === true

  const inChoice = without(wantsTokens ? [] : ['token_ids', 'engine'], wantsLogprobs ? [] : ['logprobs'])
  const choiceView = (choice: object) => {
    if (isShown(choice, inChoice)) return choice
    const seen = copyWithout(choice, inChoice)
    // The API's own answers always have the field.
    if (!wantsLogprobs && 'logprobs' in choice) seen['logprobs'] = null
    return seen
  }
  /** What is told of it beside its choices, as the beginning of its text. */
  const headOf = (said: object, hidden: ReadonlySet<string>) => {
    const seen = copyWithout(said, hidden)
    seen['id'] = id
    return JSON.stringify(seen).slice(0, -1)
  }
  const choicesOf = (choices: readonly object[]) => `,"choices":${JSON.stringify(choices.map(choiceView))}}`
  const inCompletion = without(['choices'], wantsTokens ? [] : ['prompt_token_ids'])
  const inChunk = without(['choices'], wantsTokens ? [] : ['prompt_token_ids'], wantsUsage ? [] : ['usage'])

  return {
    id,
    whole: (completion) => `${headOf(completion, inCompletion)}${choicesOf(completion.choices)}`,
    stream: (): WireStream => {
      // Of one chunk and the next, nothing but the choices differs.
      let told: ChatChunk | null = null
      let head = ''
      return {
        open: () => '',
        chunk: (chunk) => {
          if (!wantsUsage && chunk.usage && chunk.choices.length === 0) return ''
          if (told === null || !hasSameHead(told, chunk)) head = headOf(chunk, inChunk)
          told = chunk
          return `data: ${head}${choicesOf(chunk.choices)}\n\n`
        },
        done: () => ['data: [DONE]\n\n'],
        failed: (problem) => `data: ${JSON.stringify({ error: errorIn(problem) })}\n\n`,
      }
    },
  }
}

/** Whether two values have the same fields beside their choices; those that hold objects are never the same. */
function hasSameHead(one: ChatChunk, other: ChatChunk): boolean {
  let more = 0
  for (const name in other) {
    if (name !== 'choices' && (one[name] !== other[name] || !Object.hasOwn(one, name))) return false
    more += 1
  }
  for (const _ in one) more -= 1
  return more === 0
}

/** Whether nothing is hidden of a choice: what is `null` is told so. */
function isShown(choice: object, hidden: ReadonlySet<string>): boolean {
  for (const name in choice) {
    if (hidden.has(name) && (name !== 'logprobs' || (choice as { logprobs?: unknown }).logprobs !== null)) return false
  }
  return true
}

const without = (...names: readonly (readonly string[])[]): ReadonlySet<string> =>
  new Set([...names.flat(), '__proto__'])

/** A shallow copy: the nested values are as they came. */
function copyWithout(value: object, hidden: ReadonlySet<string>): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) if (!hidden.has(key)) copy[key] = (value as typeof copy)[key]
  return copy
}
