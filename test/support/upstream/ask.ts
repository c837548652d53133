import type { ChatCall, ChatChunk, ChatReply, ChatRequest, ChatUpstream } from '../../../src/core/index.ts'

/** A call that says hello to the scripted model. */
export const callOf = (
  request: Partial<ChatRequest> = {},
  call: Partial<Omit<ChatCall, 'request'>> = {},
): ChatCall => ({
  request: { model: 'scripted', messages: [{ role: 'user', content: 'hello there' }], ...request },
  weights: null,
  history: null,
  authorization: null,
  signal: new AbortController().signal,
  ...call,
})

/** Every chunk of a streamed reply, or those until it failed. */
export async function chunksOf(reply: ChatReply): Promise<{ chunks: ChatChunk[]; failure: unknown }> {
  if (reply.kind !== 'stream') throw new Error('not a stream')
  const chunks: ChatChunk[] = []
  try {
    for await (const chunk of reply.chunks) chunks.push(chunk)
    return { chunks, failure: null }
  } catch (failure) {
    return { chunks, failure }
  }
}

/** What was said in the first choice, whole or streamed. */
export async function textOf(upstream: ChatUpstream, call: ChatCall = callOf()): Promise<string> {
  const reply = await upstream.chat(call)
  if (reply.kind === 'whole') return reply.completion.choices[0]?.message.content ?? ''
  const { chunks, failure } = await chunksOf(reply)
  if (failure !== null) throw failure
  return chunks
    .flatMap(({ choices }) => choices)
    .map(({ index, delta }) => (index === 0 ? (delta.content ?? '') : ''))
    .join('')
}

/** What a promise rejects with. */
export const failureOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error,
  )

/** Waits until it is so; vitest's own time-out ends a wait in vain. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2))
}
