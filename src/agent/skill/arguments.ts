import { z } from 'zod'
import type { Json } from '../../core/index.ts'

/** The part of a JSON Schema that arguments are checked by. */
const Read = z.object({
  required: z.array(z.string()).default([]),
  properties: z.record(z.string(), z.object({ type: z.string().optional() })).default({}),
})

/** Types that JSON Schema names; any other takes anything. */
const is = new Map<string, (value: Json) => boolean>([
  ['string', (value) => typeof value === 'string'],
  ['number', (value) => typeof value === 'number'],
  ['boolean', (value) => typeof value === 'boolean'],
  ['integer', (value) => Number.isInteger(value)],
  ['array', (value) => Array.isArray(value)],
  ['object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value)],
  ['null', (value) => value === null],
])

/**
 * What is wrong with arguments: one that is required is missing, or has another type than the schema says. `null`: nothing. The
 * rest of the schema is advice to the policy: whoever wrote it does not get to run patterns here.
 */
export function problemWith(parameters: Record<string, Json>, given: Record<string, Json>): string | null {
  const schema = Read.safeParse(parameters)
  if (!schema.success) return null
  const { required, properties } = schema.data
  for (const name of required) if (!Object.hasOwn(given, name)) return `"${name}" is missing`
  for (const [name, { type }] of Object.entries(properties)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (value !== undefined && type !== undefined && is.get(type)?.(value) === false) return `"${name}" is no ${type}`
  }
  return null
}
