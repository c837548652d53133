import { type AssistantMessage, callInWords, dot, seedOf, toolCallsOf } from '../../core/index.ts'
import type { ToolMessage } from './form.ts'
import type { TextVectors } from '../memory/text-vectors.ts'

/** Names of tools share this many features, by their hash. */
const toolFeatures = 16
/** Numbers that a keep policy decides by: age, size, whether it was used, whether it failed, two likenesses, the tool. */
export const keepFeatures = 6 + toolFeatures

/** A result, as it stands on its path. */
export interface Kept {
  readonly result: ToolMessage
  /** What its turn takes of the context now. */
  readonly tokens: number
  /** Turns since. */
  readonly age: number
  /** What the policy said since. */
  readonly since: readonly AssistantMessage[]
}

/**
 * What a result is judged by, each from −1 to 1: how old and how large it is; whether the policy has since said a word of it
 * that the task did not hold; whether it reports an error; how near it is to the task, and to what was said last; its tool.
 * @param task words of the opening.
 */
export async function featuresOf(
  { result, tokens, age, since }: Kept,
  task: string,
  vectors: TextVectors,
): Promise<readonly number[]> {
  const last = since.at(-1)
  const [own, asked, now] = await vectors.of([result.content, task, last ? wordsOf(last) : task].map(headOf))
  const nearTo = (other: Float32Array | undefined) => (own && other ? 2 * Math.max(0, dot(own, other)) - 1 : -1)
  const tool = seedOf(result.name) % toolFeatures
  return [
    Math.min(1, age / 8 - 1),
    Math.max(-1, Math.min(1, Math.log2(1 + tokens) / 6 - 1)),
    isUsed(result, task, since) ? 1 : -1,
    result.isError === true ? 1 : -1,
    nearTo(asked),
    nearTo(now),
    ...Array.from({ length: toolFeatures }, (_, i) => Number(i === tool)),
  ]
}

/** Characters of a text that are read for its likeness. */
const headOf = (text: string) => text.slice(0, 2_000)

const wordsOf = (message: AssistantMessage): string =>
  [message.content, ...toolCallsOf(message).map(callInWords)].join(' ')

/** Whether what was said since holds a word of the result, four characters or more, that the task did not. */
function isUsed({ content }: ToolMessage, task: string, since: readonly AssistantMessage[]): boolean {
  const known = new Set(longWords(task))
  const said = new Set(since.flatMap((message) => longWords(wordsOf(message))).filter((word) => !known.has(word)))
  return longWords(content).some((word) => said.has(word))
}

const longWords = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}_-]{4,}/gu) ?? []
