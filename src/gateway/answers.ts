import type { z } from 'zod'
import { ErrorBody } from './errors.ts'

/** What a route answers, for the OpenAPI document. */
export const answers = <S extends z.ZodType>(description: string, schema: S) => ({
  description,
  content: { 'application/json': { schema } },
})

/** How a route refuses, for the OpenAPI document. */
export const refuses = (description: string) => answers(description, ErrorBody)
