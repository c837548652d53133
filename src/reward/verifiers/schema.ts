import { Ajv2020 } from 'ajv/dist/2020.js'
import type { z } from 'zod'
import { Json, JsonObject, parseInput } from '../../core/index.ts'
import { RewardError } from '../errors.ts'
import type { RewardPart } from '../part.ts'
import { linearPattern } from './pattern.ts'
import { answerOf, AnswerReading } from './reading.ts'

const SchemaOptions = AnswerReading.extend({
  /** JSON Schema, draft 2020-12. Its patterns are RE2's. */
  schema: JsonObject,
})

/** Characters of an answer that are read; more is none that fits. */
const longestAnswer = 1_000_000

/** Patterns of a schema, in time that grows with the text alone. */
const linear = Object.assign(
  (pattern: string) => {
    const compiled = linearPattern(pattern)
    // Ajv tells patterns apart by their text.
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern }
  },
  { code: 'linear' },
)

/**
 * A part that is 1 where the answer is JSON that a schema accepts and 0 where it is not; `null` where the environment did
 * not say what the answer was. Formats (`date`, `email`) are remarks and are not checked.
 * @throws InputError for options that it does not know; RewardError for a schema that is none.
 */
export function schemaAnswer(options: z.input<typeof SchemaOptions>): RewardPart {
  const reading = parseInput(SchemaOptions, options, 'The verifier of a schema')
  const accepts = compiled(reading.schema)
  return {
    identity: `schema:${JSON.stringify(reading)}`,
    score(trajectory) {
      const answer = answerOf(trajectory, reading)
      if (answer === null) return null
      const value = typeof answer === 'string' ? parsed(answer) : answer
      return value !== undefined && accepts(value) ? 1 : 0
    },
  }
}

function compiled(schema: z.output<typeof JsonObject>): (value: Json) => boolean {
  try {
    const validate = new Ajv2020({ strict: false, validateFormats: false, code: { regExp: linear } }).compile(schema)
    return (value) => validate(value)
  } catch (cause) {
    if (RewardError.is(cause)) throw cause
    throw new RewardError({
      code: 'reward/bad-schema',
      message: `The schema cannot be used: ${cause instanceof Error ? cause.message : String(cause)}.`,
      hint: 'Give a JSON Schema of draft 2020-12 that refers to nothing outside itself.',
      cause,
    })
  }
}

/** JSON as it was said; `undefined` where it is none. */
function parsed(text: string): Json | undefined {
  if (text.length > longestAnswer) return undefined
  try {
    return Json.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
