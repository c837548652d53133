import { randomUUID } from 'node:crypto'
import type { ChatChunk, Renderer, WireLogprobs, WireUsage } from '../../core/index.ts'
import type { Asked } from './asked.ts'
import type { ChoiceEnd, Sampled } from './choice.ts'

/** What every part of an answer says of it. */
export interface AnswerHead {
  readonly id: string
  /** Seconds since the epoch. */
  readonly created: number
  readonly model: string
  /** Names the weights that answer. */
  readonly system_fingerprint: string
}

/** What an answer is written with. */
export interface AnswerSetup {
  readonly head: AnswerHead
  readonly asked: Pick<Asked, 'choices'>
  readonly prompt: readonly number[]
  readonly renderer: Pick<Renderer, 'bytes'>
}

/** Clients answer calls by their ids. */
export const newCallId = () => `call_${randomUUID().replaceAll('-', '')}`

export const newAnswerId = () => `chatcmpl-${randomUUID().replaceAll('-', '')}`

type ChunkChoice = ChatChunk['choices'][number]

/** What a choice, or a chunk of one, tells of its tokens, asked or not: what a client did not ask for is taken out later. */
export function tokenFacts(
  { renderer }: AnswerSetup,
  { tokens, logprobs, behaviourLogprobs }: Sampled,
  end: ChoiceEnd | null,
): Pick<ChunkChoice, 'logprobs' | 'token_ids' | 'engine'> {
  const ending = end && { malformed_calls: [...end.malformedCalls], closed_turn: end.closedTurn }
  return {
    logprobs: tokens.length > 0 ? logprobsOf(renderer, tokens, logprobs) : null,
    token_ids: [...tokens],
    engine: { behaviour_logprobs: [...behaviourLogprobs], ...ending },
  }
}

/** One entry a token. A part of a character has U+FFFD for a text, and its bytes. */
function logprobsOf(
  renderer: Pick<Renderer, 'bytes'>,
  tokens: readonly number[],
  logprobs: readonly number[],
): WireLogprobs {
  const content = tokens.map((id, i) => {
    const bytes = renderer.bytes(id)
    return { token: utf8.decode(bytes), logprob: logprobs[i] ?? 0, bytes: [...bytes], top_logprobs: [] }
  })
  return { content, refusal: null }
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

export function usageOf(prompt: number, completion: number): WireUsage {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: null },
  }
}
