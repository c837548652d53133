import { RE2JS, RE2JSException } from 're2js'
import { z } from 'zod'
import { parseInput } from '../../core/index.ts'
import { RewardError } from '../errors.ts'
import type { RewardPart } from '../part.ts'
import { answerOf, AnswerReading, asWords } from './reading.ts'

const PatternOptions = AnswerReading.extend({
  /** RE2's syntax: no backreferences, no looking around. */
  pattern: z.string().min(1).max(4_096),
  /** The whole answer must match; else any part of it. Default yes. */
  whole: z.boolean().default(true),
  caseSensitive: z.boolean().default(true),
})

/** Characters of an answer that are read; more is no match, which is the agent's doing. */
const longestAnswer = 1_000_000

/**
 * An expression of RE2: its time grows with the length of the text alone, so that no text and no pattern can hold up a
 * process (Cox, "Regular Expression Matching Can Be Simple And Fast", 2007).
 * @throws RewardError for one that RE2 does not know.
 */
export function linearPattern(pattern: string, caseSensitive = true): RE2JS {
  try {
    return RE2JS.compile(pattern, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE)
  } catch (cause) {
    if (!(cause instanceof RE2JSException)) throw cause
    throw new RewardError({
      code: 'reward/bad-pattern',
      message: `The pattern ${JSON.stringify(pattern)} cannot be used: ${cause.message}.`,
      hint: "Write it in RE2's syntax: without backreferences and without looking ahead or behind.",
      cause,
    })
  }
}

/**
 * A part that is 1 where the answer matches a pattern and 0 where it does not; `null` where the environment did not say
 * what the answer was.
 * @throws InputError for options that it does not know; RewardError for a pattern that RE2 does not know.
 */
export function patternAnswer(options: z.input<typeof PatternOptions>): RewardPart {
  const reading = parseInput(PatternOptions, options, 'The verifier of a pattern')
  const pattern = linearPattern(reading.pattern, reading.caseSensitive)
  return {
    identity: `pattern:${JSON.stringify(reading)}`,
    score(trajectory) {
      const answer = answerOf(trajectory, reading)
      if (answer === null) return null
      const text = asWords(answer).trim()
      if (text.length > longestAnswer) return 0
      return (reading.whole ? pattern.matches(text) : pattern.matcher(text).find()) ? 1 : 0
    },
  }
}
