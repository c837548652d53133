import type { ChatModel, ChatQuestion } from '../../core/index.ts'
import { RatchetError } from '../../errors/index.ts'

/** What a model said to the end; `null` where it did not answer, or was cut off. */
export async function askedOf(model: ChatModel, question: ChatQuestion): Promise<string | null> {
  try {
    const { text, whole } = await model.ask(question)
    return whole ? text : null
  } catch (error) {
    // A judge that is down is missing evidence; anything else is a defect.
    if (RatchetError.is(error)) return null
    throw error
  }
}

/** The JSON that a model's answer holds, between fences or not; `undefined` where it holds none. */
export function jsonIn(answer: string): unknown {
  const bare = answer.trim().replace(/^```(?:json)?[^\S\n]*\n([\s\S]*)\n```$/, '$1')
  try {
    return JSON.parse(bare)
  } catch {
    return undefined
  }
}

/** The middle; of an even number the mean of the two. `null` of none. */
export function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]]
  return low === undefined || high === undefined ? null : (low + high) / 2
}
