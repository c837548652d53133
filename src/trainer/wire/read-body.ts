import type { z } from 'zod'
import { requestError } from '../errors.ts'

/** Reads a body by its schema. @throws TrainerRequestError 400 that names the first field that is wrong. */
export function readBody<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const field = (issue?.path ?? []).map(String).join('.').slice(0, 200)
  const problem = (issue?.message ?? 'it does not fit').replace(/\.$/, '').slice(0, 500)
  throw requestError(
    'invalid-request',
    field === '' ? `The request's body: ${problem}.` : `The request's ${field}: ${problem}.`,
    'Correct the field and send the request again. Nothing was changed.',
    { field },
  )
}
