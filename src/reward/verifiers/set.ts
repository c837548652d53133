import { z } from 'zod'
import { type Json, parseInput } from '../../core/index.ts'
import type { RewardPart } from '../part.ts'
import { comparable, TextLikeness } from './exact.ts'
import { answerOf, AnswerReading, asWords, Expected, expectedOf } from './reading.ts'

const SetOptions = AnswerReading.extend({
  /** A list. */
  expected: Expected,
  /** `all`: 1 for exactly these, else 0. `f1`: the harmonic mean of precision and recall. Default `all`. */
  by: z.enum(['all', 'f1']).default('all'),
  ...TextLikeness.shape,
})

/** Where a list that was said as words comes apart. */
const separators = /[,;\n]/

/**
 * Van Rijsbergen's F1 of two sets: 2·|both| / (|said| + |expected|), in [0, 1]; 1 where both are empty. Naming everything
 * costs precision.
 */
export function f1(said: ReadonlySet<string>, expected: ReadonlySet<string>): number {
  if (said.size + expected.size === 0) return 1
  let both = 0
  for (const one of said) if (expected.has(one)) both++
  return (2 * both) / (said.size + expected.size)
}

/**
 * A part that compares a list with the expected one, in any order; what is said twice is said once. The answer is a JSON
 * list, or words between commas, semicolons or lines. `null` where no list is known to be expected.
 * @throws InputError for options that it does not know.
 */
export function setAnswer(options: z.input<typeof SetOptions>): RewardPart {
  const reading = parseInput(SetOptions, options, 'The verifier of a set')
  const setOf = (items: readonly Json[]) =>
    new Set(items.map((one) => comparable(asWords(one), reading)).filter((one) => one !== ''))
  return {
    identity: `set:${JSON.stringify(reading)}`,
    score(trajectory) {
      const expected = expectedOf(trajectory, reading.expected)
      const answer = answerOf(trajectory, reading)
      if (!isList(expected) || answer === null) return null
      const share = f1(setOf(listIn(answer)), setOf(expected))
      return reading.by === 'f1' ? share : Math.floor(share)
    },
  }
}

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

function listIn(answer: Json): readonly Json[] {
  if (typeof answer !== 'string') return isList(answer) ? answer : [answer]
  if (answer.trimStart().startsWith('[')) {
    try {
      const parsed: unknown = JSON.parse(answer)
      const list = z.array(z.json()).safeParse(parsed)
      if (list.success) return list.data
    } catch {
      // Brackets around words: read as words.
    }
  }
  return answer.split(separators)
}
