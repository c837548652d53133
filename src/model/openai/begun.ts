import type { ChatChunk, ChatReply } from '../../core/index.ts'

/**
 * The same reply, once its first chunk is there: a stream that fails before it rejects here, where it can still be asked
 * for again.
 * @throws UpstreamFailure
 */
export async function begun(reply: ChatReply): Promise<ChatReply> {
  if (reply.kind === 'whole') return reply
  const rest = reply.chunks[Symbol.asyncIterator]()
  let first: IteratorResult<ChatChunk> | null = await rest.next()
  const chunks: AsyncIterableIterator<ChatChunk> = {
    next() {
      if (first === null) return rest.next()
      const result = Promise.resolve(first)
      first = null
      return result
    },
    return() {
      first = null
      return rest.return?.() ?? Promise.resolve({ done: true, value: undefined })
    },
    [Symbol.asyncIterator]: () => chunks,
  }
  return { ...reply, chunks }
}
