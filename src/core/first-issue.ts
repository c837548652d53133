import type { z } from 'zod'

/**
 * Parses up to the first issue: a list of a million wrong items has one to tell, and collecting the others would cost more
 * than the request. For `safeParse`, of values from outside.
 */
export const atFirstIssue: z.core.ParseContextInternal<z.core.$ZodIssue> = { abortEarly: true }
