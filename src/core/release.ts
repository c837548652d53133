import { z } from 'zod'
import { VersionSet } from './gate.ts'
import { ReceiptId, ReleaseId, RunId } from './id.ts'

/**
 * A set of Versions that serves, or served. Only a gate makes one: `receipt` is its promoting receipt, and is `null`
 * only for an agent's initial release, which is the agent as it was before anything was learned.
 */
export const Release = z.strictObject({
  id: ReleaseId,
  agent: z.string().min(1),
  versions: VersionSet,
  receipt: ReceiptId.nullable(),
  run: RunId.nullable(),
  createdAt: z.number(),
})
export type Release = z.infer<typeof Release>

/** One change of what serves; append-only. The latest activation of an agent names its current release. */
export const Activation = z.strictObject({
  agent: z.string().min(1),
  release: ReleaseId,
  reason: z.enum(['initial', 'promote', 'rollback']),
  /** 1 for the agent's first activation: the Generation that decisions made under it carry. */
  generation: z.int().positive(),
  at: z.number(),
})
export type Activation = z.infer<typeof Activation>
