import type { ChatChunk, ChatReply } from '../../core/index.ts'

/** The stream, which gives its place up when it is over: it ended, failed, was left early, or its signal fired. */
export function held(reply: ChatReply & { kind: 'stream' }, leave: () => void, signal: AbortSignal): ChatReply {
  const inner = reply.chunks[Symbol.asyncIterator]()
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  const over = (): void => {
    signal.removeEventListener('abort', leave)
    leave()
  }
  const chunks: AsyncIterableIterator<ChatChunk> = {
    async next() {
      try {
        const result = await inner.next()
        if (result.done === true) over()
        return result
      } catch (error) {
        over()
        throw error
      }
    },
    async return() {
      over()
      return (await inner.return?.()) ?? { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => chunks,
  }
  return { ...reply, chunks }
}
