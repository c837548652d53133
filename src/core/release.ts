import { z } from 'zod'
import { VersionSet } from './gate.ts'
import { ReceiptId, ReleaseId, RunId } from './id.ts'

/** What made a release: nothing, for an agent as it was declared; else a gate, by its receipt. */
const initial = { receipt: z.null(), run: z.null() }
const promoted = { receipt: ReceiptId, run: RunId.nullable() }
const anyRelease = z.strictObject({
  id: ReleaseId,
  agent: z.string().min(1),
  versions: VersionSet,
  createdAt: z.number(),
})

/**
 * A set of Versions that serves, or served. Only a gate makes one of what was learned: `receipt` is the receipt that promoted
 * the latest of it, and is `null` only for an agent as it was declared, which no run made. Where its owner edits or adds what
 * was not learned, what was keeps its receipt.
 */
export const Release = z.union([anyRelease.extend(initial), anyRelease.extend(promoted)])
export type Release = z.infer<typeof Release>

/** One change of what serves; append-only. The latest activation of an agent names its current release. */
export const Activation = z.strictObject({
  agent: z.string().min(1),
  release: ReleaseId,
  /** `declared`: its code declares the agent otherwise: a Parameter was added, or a text edited. */
  reason: z.enum(['initial', 'promote', 'rollback', 'declared']),
  /** 1 for the agent's first activation: the Generation that decisions made under it carry. */
  generation: z.int().positive(),
  at: z.number(),
})
export type Activation = z.infer<typeof Activation>

/** A hold on what serves: while it is in force no gate changes it. A rollback, by hand or by evidence, still may. */
export const Pin = z.strictObject({
  agent: z.string().min(1),
  release: ReleaseId,
  /** Why, in the words of whoever pinned it. */
  reason: z.string().max(512),
  at: z.number(),
})
export type Pin = z.infer<typeof Pin>
