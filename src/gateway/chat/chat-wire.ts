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
    const seen = copyWithout(choice, inChoice)
    // The API's own answers always have the field.
    if (!wantsLogprobs && 'logprobs' in choice) seen['logprobs'] = null
    return seen
  }
  const view = (said: { readonly choices: readonly object[] }, hidden: ReadonlySet<string>) => {
    const seen = copyWithout(said, hidden)
    seen['id'] = id
    seen['choices'] = said.choices.map(choiceView)
    return JSON.stringify(seen)
  }
  const inCompletion = without(wantsTokens ? [] : ['prompt_token_ids'])
  const inChunk = without(wantsTokens ? [] : ['prompt_token_ids'], wantsUsage ? [] : ['usage'])

  return {
    id,
    whole: (completion) => view(completion, inCompletion),
    stream: (): WireStream => ({
      open: () => '',
      chunk: (chunk: ChatChunk) =>
        !wantsUsage && chunk.usage && chunk.choices.length === 0 ? '' : `data: ${view(chunk, inChunk)}\n\n`,
      done: () => 'data: [DONE]\n\n',
      failed: (problem) => `data: ${JSON.stringify({ error: errorIn(problem) })}\n\n`,
    }),
  }
}

const without = (...names: readonly (readonly string[])[]): ReadonlySet<string> =>
  new Set([...names.flat(), '__proto__'])

/** A shallow copy: the nested values are as they came. */
function copyWithout(value: object, hidden: ReadonlySet<string>): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) if (!hidden.has(key)) copy[key] = (value as typeof copy)[key]
  return copy
}
