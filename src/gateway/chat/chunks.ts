import type { ChatChunk, ChatCompletion } from '../../core/index.ts'

type Choice = ChatCompletion['choices'][number]
type ChunkChoice = ChatChunk['choices'][number]

/** A whole answer as the one chunk that says all of it. */
export function chunkOf(completion: ChatCompletion): ChatChunk {
  return { ...completion, object: 'chat.completion.chunk', choices: completion.choices.map(wholeChoice) }
}

function wholeChoice({ message, ...choice }: Choice): ChunkChoice {
  const { tool_calls, ...delta } = message
  return {
    ...choice,
    delta: tool_calls ? { ...delta, tool_calls: tool_calls.map((call, index) => ({ ...call, index })) } : delta,
  }
}

/** A whole answer as a stream brings it: what each choice says, then why it ended, then the usage. */
export function* chunksOf(completion: ChatCompletion): Generator<ChatChunk> {
  const { choices, usage, prompt_token_ids, ...rest } = completion
  const head = { ...rest, object: 'chat.completion.chunk' as const }
  for (const [i, choice] of choices.entries()) {
    const said = { ...wholeChoice(choice), finish_reason: null }
    yield { ...head, ...(i === 0 && prompt_token_ids ? { prompt_token_ids } : {}), choices: [said] }
  }
  for (const { index, finish_reason } of choices) yield { ...head, choices: [{ index, delta: {}, finish_reason }] }
  if (usage) yield { ...head, choices: [], usage }
}
