import { type Float, type Integer, gatherRows, select } from '../graph/index.ts'

/**
 * Where a token's id is `vocabSize` or more it is a virtual one, whose vector is a row of a soft prompt. The embedding is
 * asked for tokens of its own alone: those of `words`.
 */
export interface Prompted {
  /** `tokens`, with token 0 in the place of virtual ones. */
  readonly words: Integer
  /** What the first block reads: the stream of `words`, but for virtual tokens, which are rows of `prompt` `[rows, hidden]`. */
  with(stream: Float, prompt: Float): Float
}

/** Tells virtual tokens from others. */
export function prompted(tokens: Integer, vocabSize: number): Prompted {
  const { graph, shape } = tokens
  const first = graph.integers([vocabSize])
  const none = graph.integers([0])
  const isWord = graph.node('Less', [tokens, first], 'bool', shape)
  const pick = (yes: Integer, no: Integer) => graph.node('Where', [isWord, yes, no], 'int64', shape)
  return {
    words: pick(tokens, none),
    with(stream, prompt) {
      const rows = pick(none, graph.node('Sub', [tokens, first], 'int64', shape))
      const column = graph.node('Unsqueeze', [isWord, graph.integers([-1])], 'bool', [...shape, 1])
      return select(column, stream, gatherRows(prompt, rows))
    },
  }
}
