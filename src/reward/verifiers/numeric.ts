import { z } from 'zod'
import { type Json, parseInput } from '../../core/index.ts'
import type { RewardPart } from '../part.ts'
import { answerOf, AnswerReading, Expected, expectedOf } from './reading.ts'

const NumericOptions = AnswerReading.extend({
  expected: Expected,
  /** How far the answer may lie from what is expected, in its unit. Default 0. */
  absolute: z.number().nonnegative().default(0),
  /** The same, as a share of what is expected. The wider of both holds. Default 1e-9: rounding of floating point. */
  relative: z.number().nonnegative().default(1e-9),
})

/** More than any number with its unit. What is longer is no number. */
const longestNumber = 256

/** What looks like a number and stands on its own: the 2 of "m2" belongs to a unit. */
const candidates = /(?<![\p{L}\p{N}.,])[-+]?[\d.,]*\d(?:[eE][-+]?\d+)?/gu
const wellFormed = /^[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?$/

/**
 * The one number that a text holds, with whatever unit or currency around it: `$1,234.50`, `12 kg`, `-3e-4`. `null` where
 * it holds none or several: who names many numbers has named none. A comma groups thousands.
 */
export function numberIn(text: string): number | null {
  if (text.length > longestNumber) return null
  const [only, ...others] = text.normalize('NFKC').replaceAll('−', '-').match(candidates) ?? []
  if (only === undefined || others.length > 0 || !wellFormed.test(only)) return null
  const value = Number(only.replaceAll(',', ''))
  return Number.isFinite(value) ? value : null
}

const numberOf = (value: Json): number | null =>
  typeof value === 'number' ? value : typeof value === 'string' ? numberIn(value) : null

/**
 * A part that is 1 where the answer is the expected number within a tolerance, units aside, and 0 where it is not, or is
 * no single number; `null` where no number is known to be expected.
 * @throws InputError for options that it does not know.
 */
export function numericAnswer(options: z.input<typeof NumericOptions>): RewardPart {
  const reading = parseInput(NumericOptions, options, 'The verifier of a number')
  return {
    identity: `numeric:${JSON.stringify(reading)}`,
    score(trajectory) {
      const expected = numberOf(expectedOf(trajectory, reading.expected) ?? null)
      const answer = answerOf(trajectory, reading)
      if (expected === null || answer === null) return null
      const said = numberOf(answer)
      const tolerance = Math.max(reading.absolute, reading.relative * Math.abs(expected))
      return said !== null && Math.abs(said - expected) <= tolerance ? 1 : 0
    },
  }
}
