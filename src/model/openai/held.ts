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
  const overIfDone = ({ done }: IteratorResult<ChatChunk>): void => {
    if (done === true) over()
  }
  const chunks: AsyncIterableIterator<ChatChunk> = {
    // Who waits for the chunk gets the promise itself: one more for each would be a tenth of a stream's garbage.
    next() {
      const next = inner.next()
      void next.then(overIfDone, over)
      return next
    },
    async return() {
      over()
      return (await inner.return?.()) ?? { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => chunks,
  }
  return { ...reply, chunks }
}
