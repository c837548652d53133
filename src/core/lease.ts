import { z } from 'zod'

/**
 * The right to do something that only one process may do at a time, for a while: a learner's, for one agent. It ends by
 * itself when its holder dies.
 */
export const Lease = z.strictObject({
  /** What it is for, for example `learn:support`. */
  name: z.string().min(1).max(512),
  /** The process that has it. */
  holder: z.string().min(1).max(256),
  /** Grows with every holder: what an earlier holder still writes can be told and refused. */
  token: z.int().positive(),
  /** Milliseconds since the epoch. */
  expiresAt: z.number(),
})
export type Lease = z.infer<typeof Lease>
