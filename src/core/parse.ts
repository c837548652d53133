import { distance } from 'fastest-levenshtein'
import { z } from 'zod'
import { InputError } from '../errors/index.ts'

/** The name that was probably meant; `null` when none is close. */
export function nearestName(name: string, known: readonly string[]): string | null {
  let best: { name: string; distance: number } | null = null
  for (const candidate of known) {
    const d = distance(name.toLowerCase(), candidate.toLowerCase())
    if (best === null || d < best.distance) best = { name: candidate, distance: d }
  }
  return best !== null && best.distance <= Math.max(2, Math.ceil(name.length / 3)) ? best.name : null
}

/** Names of the keys that the schema allows at a path; empty where it is no object. Of alternatives, those of all. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    return keysAt(schema.unwrap() as z.ZodType, path)
  }
  if (schema instanceof z.ZodExactOptional) return keysAt(schema.unwrap() as z.ZodType, path)
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => keysAt(option as z.ZodType, path))
  const [key, ...rest] = path
  if (schema instanceof z.ZodArray) return keysAt(schema.element as z.ZodType, rest)
  if (schema instanceof z.ZodRecord) return keysAt(schema.valueType as z.ZodType, rest)
  if (!(schema instanceof z.ZodObject)) return []
  if (key === undefined) return Object.keys(schema.shape)
  const inner = (schema.shape as Record<PropertyKey, z.ZodType>)[key]
  return inner ? keysAt(inner, rest) : []
}

/** What is wrong, in words that need no knowledge of the schema library. */
function problemOf({ message, ...issue }: z.core.$ZodIssue): string {
  // What an issue was raised by is not part of it: only its message says that nothing was there.
  if (issue.code === 'invalid_type' && message.endsWith('received undefined')) return `it is missing: ${issue.expected}`
  return message.replace(/^Invalid input: /, '')
}

/** Ends with one mark. */
const sentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`)

function explain(schema: z.ZodType, issue: z.core.$ZodIssue): string {
  const where = issue.path.map(String).join('.')
  if (issue.code !== 'unrecognized_keys') return where === '' ? problemOf(issue) : `${where}: ${problemOf(issue)}`
  const known = keysAt(schema, issue.path)
  return issue.keys
    .map((key) => {
      const nearest = nearestName(key, known)
      const meant = nearest ? `did you mean "${nearest}"?` : `known are ${known.map((name) => `"${name}"`).join(', ')}`
      return `unknown key "${where ? `${where}.` : ''}${key}": ${meant}`
    })
    .join('; ')
}

/**
 * Parses a value from outside; unknown keys are errors that name the nearest known one.
 * @param what names the value for people, for example `the configuration file ratchet.json`.
 * @throws InputError with everything that is wrong with it.
 */
export function parseInput<S extends z.ZodType>(schema: S, value: unknown, what: string): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new InputError({
    code: 'input/invalid',
    message: sentence(`${what}: ${parsed.error.issues.map((issue) => explain(schema, issue)).join('; ')}`),
    hint: 'Correct what is named and run again; nothing was written.',
  })
}
