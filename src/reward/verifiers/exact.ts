import { z } from 'zod'
import { type Json, parseInput } from '../../core/index.ts'
import type { RewardPart } from '../part.ts'
import { answerOf, AnswerReading, asWords, Expected, expectedOf } from './reading.ts'

/** What does not count when two texts are compared. */
export const TextLikeness = z.strictObject({
  /** Capital letters count. Default no. */
  caseSensitive: z.boolean().default(false),
  /** Punctuation counts. Default yes: "3.5" and "35" differ by it alone. */
  punctuation: z.boolean().default(true),
})
export type TextLikeness = z.infer<typeof TextLikeness>

const ExactOptions = AnswerReading.extend({ expected: Expected, ...TextLikeness.shape })

/** A text as it is compared: Unicode in one form, white space as single spaces. */
export function comparable(text: string, { caseSensitive, punctuation }: TextLikeness): string {
  const plain = text.normalize('NFKC')
  const cased = caseSensitive ? plain : plain.toLowerCase()
  const marked = punctuation ? cased : cased.replaceAll(/\p{P}/gu, ' ')
  return marked.replaceAll(/\s+/gu, ' ').trim()
}

/**
 * A part that is 1 where the answer is the expected text, or one of several (a list), and 0 where it is not; `null` where
 * nothing is known to be expected.
 * @throws InputError for options that it does not know.
 */
export function exactAnswer(options: z.input<typeof ExactOptions>): RewardPart {
  const reading = parseInput(ExactOptions, options, 'The verifier of an exact answer')
  return {
    identity: `exact:${JSON.stringify(reading)}`,
    score(trajectory) {
      const expected = expectedOf(trajectory, reading.expected)
      const answer = answerOf(trajectory, reading)
      if (expected === undefined || expected === null || answer === null) return null
      const said = comparable(asWords(answer), reading)
      return oneOf(expected).some((one) => comparable(asWords(one), reading) === said) ? 1 : 0
    },
  }
}

const oneOf = (expected: Json): readonly Json[] => (Array.isArray(expected) ? expected : [expected])
