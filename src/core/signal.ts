import { z } from 'zod'
import { NodeId, TrajectoryId } from './id.ts'
import { Json } from './json.ts'

/** Where a piece of evidence comes from. */
export const SignalSource = z.enum(['verifier', 'judge', 'user', 'outcome', 'guard'])
export type SignalSource = z.infer<typeof SignalSource>

/** One piece of evidence about a trajectory or one of its nodes. Arrives at any time; `key` makes it idempotent. */
export const Signal = z.strictObject({
  key: z.string().min(1).max(256),
  trajectory: TrajectoryId,
  node: NodeId.nullable(),
  source: SignalSource,
  /** What was measured, for example `solved` or `thumbs`. */
  name: z.string().min(1).max(128),
  value: Json,
  /** Milliseconds since the epoch. */
  at: z.number(),
})
export type Signal = z.infer<typeof Signal>
