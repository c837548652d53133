import { z } from 'zod'
import { Precision, RunId } from '../../src/core/index.ts'

const Rate = z.strictObject({
  success: z.number().min(0).max(1),
  n: z.int().positive(),
  ci: z.tuple([z.number().min(0), z.number().max(1)]),
})

/** The last line of `ratchet learn --json`. */
export const Summary = z.strictObject({
  type: z.literal('summary'),
  runId: RunId,
  /** `null` at a server. */
  precision: Precision.nullable(),
  base: Rate,
  primed: Rate,
  control: Rate.nullable(),
  learned: Rate,
  decision: z.enum(['promote', 'hold', 'need_more_evidence', 'reject']),
  releaseId: z.string().nullable(),
  seconds: z.number().positive(),
  tokensSampled: z.int().positive(),
  tokensTrained: z.int().positive(),
})
export type Summary = z.infer<typeof Summary>
