import { z } from 'zod'

/** Problems that are told of one value, at most. */
const mostTold = 5

/**
 * A schema that reads a value once, and gives it again as it was: a value is bound to each episode, and may hold much. What it
 * refuses, it refuses each time.
 */
export function readOnce<T extends object>(schema: z.ZodType<T>): z.ZodType<T> {
  const known = new WeakMap<object, T>()
  return z.unknown().transform((raw, context): T => {
    const before = typeof raw === 'object' && raw !== null ? known.get(raw) : undefined
    if (before) return before
    const { success, data, error } = schema.safeParse(raw)
    if (!success) {
      for (const { path, message } of error.issues.slice(0, mostTold))
        context.addIssue({ code: 'custom', path, message })
      return z.NEVER
    }
    if (typeof raw === 'object' && raw !== null) known.set(raw, data)
    known.set(data, data)
    return data
  })
}
