import { type ChatChunk, type ChatCompletion, weightOf } from '../../core/index.ts'

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

/** About how much work it is to go through what a chunk adds to an answer: it has few values, but for tokens. */
export function weightOfChunk({ choices, prompt_token_ids }: ChatChunk): number {
  let weight = weightOf(0, prompt_token_ids?.length ?? 0)
  for (const { delta, token_ids, logprobs } of choices) {
    const { content, refusal, reasoning_content, tool_calls } = delta
    weight += weightOf(
      (content?.length ?? 0) + (refusal?.length ?? 0) + (reasoning_content?.length ?? 0),
      (token_ids?.length ?? 0) + (logprobs?.content?.length ?? 0),
    )
    for (const call of tool_calls ?? []) weight += call.function?.arguments?.length ?? 0
  }
  return weight
}
