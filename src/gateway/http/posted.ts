import type { z } from 'zod'
import { atFirstIssue } from '../../core/index.ts'

/**
 * The JSON body of a route that the route library validates: as its schema says, and refused at the first issue. The
 * library hands the schema no options, so the schema brings its own.
 */
export function posted<S extends z.ZodType>(schema: S) {
  const once: S = schema.clone()
  once.safeParseAsync = (value) => schema.safeParseAsync(value, atFirstIssue)
  return { required: true, content: { 'application/json': { schema: once } } } as const
}
