import { z } from 'zod'
import { atFirstIssue } from '../../core/index.ts'
import { refuseInvalid } from '../errors.ts'

/**
 * A request's body, or a part of it, as what its schema says it is. The value itself comes back, not the schema's copy of
 * it: what goes on to an upstream is what the client sent, field by field.
 * @param at where in the body the part stands.
 * @throws GatewayError 400 that names the first part which is wrong.
 */
export function parseRequest<S extends z.ZodType>(
  schema: S,
  value: unknown,
  at: readonly PropertyKey[] = [],
): z.output<S> {
  const parsed = schema.safeParse(value, atFirstIssue)
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => ({ ...issue, path: [...at, ...issue.path] }))
    refuseInvalid({ target: 'json', success: false, error: new z.ZodError(issues) })
  }
  return value as z.output<S>
}
