import {
  type ChatCall,
  ChatChunk,
  ChatCompletion,
  ChatRequest,
  type ChatReply,
  type ChatUpstream,
} from '../../src/core/index.ts'

/** One choice of an answer, whichever way it came; call ids, which differ every time, left out. */
export interface GatheredChoice {
  content: string
  readonly toolCalls: { name: string; arguments: string }[]
  finish: string | null
  readonly tokens: number[]
  readonly logprobs: number[]
  readonly behaviourLogprobs: number[]
  malformedCalls: unknown
  closedTurn: boolean | null
}

export interface Gathered {
  readonly choices: readonly GatheredChoice[]
  readonly promptTokens: readonly number[] | null
  readonly usage: unknown
}

/** What a client sends, as the gateway hands it on: with everything asked for. */
export const askingAll = { logprobs: true, return_token_ids: true, stream_options: { include_usage: true } }

/** Asks as the gateway does: the request is parsed with the wire's schema. */
export function ask(
  upstream: ChatUpstream,
  request: object,
  call: Partial<Omit<ChatCall, 'request'>> = {},
): Promise<ChatReply> {
  return upstream.chat({
    request: ChatRequest.parse({ model: 'scripted', messages: [{ role: 'user', content: 'Hi' }], ...request }),
    weights: null,
    history: null,
    authorization: null,
    signal: new AbortController().signal,
    ...call,
  })
}

/** Everything that a stream says, as it would cross the wire. */
export async function chunksOf(reply: ChatReply): Promise<readonly ChatChunk[]> {
  if (reply.kind !== 'stream') throw new Error('the reply is no stream')
  const chunks: ChatChunk[] = []
  for await (const chunk of reply.chunks) chunks.push(ChatChunk.parse(JSON.parse(JSON.stringify(chunk))))
  return chunks
}

export function completionOf(reply: ChatReply): ChatCompletion {
  if (reply.kind !== 'whole') throw new Error('the reply is a stream')
  return ChatCompletion.parse(JSON.parse(JSON.stringify(reply.completion)))
}

export async function gather(reply: ChatReply): Promise<Gathered> {
  return reply.kind === 'whole' ? gatherWhole(completionOf(reply)) : gatherChunks(await chunksOf(reply))
}

function gatherWhole(completion: ChatCompletion): Gathered {
  return {
    promptTokens: completion.prompt_token_ids ?? null,
    usage: completion.usage ?? null,
    choices: completion.choices.map(({ message, finish_reason, token_ids, logprobs, engine }) => ({
      content: message.content ?? '',
      toolCalls: (message.tool_calls ?? []).map((call) => call.function),
      finish: finish_reason ?? null,
      tokens: token_ids ?? [],
      logprobs: (logprobs?.content ?? []).map(({ logprob }) => logprob),
      behaviourLogprobs: engine?.behaviour_logprobs ?? [],
      malformedCalls: engine?.malformed_calls ?? null,
      closedTurn: engine?.closed_turn ?? null,
    })),
  }
}

function gatherChunks(chunks: readonly ChatChunk[]): Gathered {
  const choices: GatheredChoice[] = []
  for (const { index, delta, finish_reason, token_ids, logprobs, engine } of chunks.flatMap((chunk) => chunk.choices)) {
    const choice = (choices[index] ??= {
      content: '',
      toolCalls: [],
      finish: null,
      tokens: [],
      logprobs: [],
      behaviourLogprobs: [],
      malformedCalls: null,
      closedTurn: null,
    })
    choice.content += delta.content ?? ''
    for (const call of delta.tool_calls ?? []) {
      const drafted = (choice.toolCalls[call.index] ??= { name: '', arguments: '' })
      drafted.name += call.function?.name ?? ''
      drafted.arguments += call.function?.arguments ?? ''
    }
    choice.finish = finish_reason ?? choice.finish
    choice.tokens.push(...(token_ids ?? []))
    choice.logprobs.push(...(logprobs?.content ?? []).map(({ logprob }) => logprob))
    choice.behaviourLogprobs.push(...(engine?.behaviour_logprobs ?? []))
    choice.malformedCalls = engine?.malformed_calls ?? choice.malformedCalls
    choice.closedTurn = engine?.closed_turn ?? choice.closedTurn
  }
  const [promptTokens] = chunks.flatMap((chunk) => (chunk.prompt_token_ids ? [chunk.prompt_token_ids] : []))
  return { choices, promptTokens: promptTokens ?? null, usage: chunks.at(-1)?.usage ?? null }
}
