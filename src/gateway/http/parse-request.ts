import type { z } from 'zod'
import { refuseInvalid } from '../errors.ts'

/**
 * A request's body as what its schema says it is. The value itself comes back, not the schema's copy of it: what goes on
 * to an upstream is what the client sent, field by field.
 * @throws GatewayError 400 that names the first part which is wrong.
 */
export function parseRequest<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value)
  if (!parsed.success) refuseInvalid({ target: 'json', success: false, error: parsed.error })
  return value as z.output<S>
}
