import { z } from 'zod'
import { Json, type Trajectory } from '../../core/index.ts'
import { ownTurns } from '../turns.ts'
import { pointerKeys, valueAt } from './pointer.ts'

/** A JSON pointer into the final state, such as `/answer` (RFC 6901). */
const Pointer = z.string().refine((text) => pointerKeys(text) !== null, 'no JSON pointer: write it as "/answer"')

/** Which answer a verifier reads: one in the final state; omitted, the last that the agent said. */
export const AnswerReading = z.strictObject({ answer: z.strictObject({ at: Pointer }).optional() })

/** What a verifier expects: a value, or where the final state holds it. The agent must not be able to write there. */
export const Expected = z.union([z.strictObject({ is: Json }), z.strictObject({ at: Pointer })])
export type Expected = z.infer<typeof Expected>

/**
 * The answer of an episode.
 * @returns `null` where the environment did not say; `''` where the agent gave none, which is its own doing.
 */
export function answerOf(trajectory: Trajectory, { answer }: z.infer<typeof AnswerReading>): Json {
  if (answer === undefined) return ownTurns(trajectory).at(-1)?.message.content ?? ''
  if (trajectory.finalState === null) return null
  return valueAt(trajectory.finalState.state, pointerKeys(answer.at) ?? []) ?? ''
}

/** What was expected; `undefined` where the environment did not say. */
export function expectedOf({ finalState }: Trajectory, expected: Expected): Json | undefined {
  if ('is' in expected) return expected.is
  return finalState === null ? undefined : valueAt(finalState.state, pointerKeys(expected.at) ?? [])
}

/** A value as the text that it is compared by. */
export const asWords = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))
