import { z } from 'zod'
import { RunId, TaskId, VersionId } from './id.ts'
import { ParameterName } from './parameter.ts'

/** What a gate says of a candidate. `need_more_evidence`: neither better nor worse is shown yet. */
export const GateDecision = z.enum(['promote', 'hold', 'need_more_evidence', 'reject'])
export type GateDecision = z.infer<typeof GateDecision>

/** The Versions that serve together, by Parameter. */
export const VersionSet = z.record(ParameterName, VersionId)
export type VersionSet = z.infer<typeof VersionSet>

/** One held-out task under both arms. A score is `null` when the evidence is missing; guards: higher is worse. */
export const PairedOutcome = z.strictObject({
  task: TaskId,
  baseline: z.number().nullable(),
  candidate: z.number().nullable(),
  guards: z
    .strictObject({ baseline: z.record(z.string(), z.number()), candidate: z.record(z.string(), z.number()) })
    .optional(),
})
export type PairedOutcome = z.infer<typeof PairedOutcome>

/** One use of a holdout: repeated gates on tasks that overlap spend one alpha. */
export const HoldoutUse = z.strictObject({
  /** Content hash of the held-out task ids. */
  holdout: z.string(),
  /** 1 for the first use of any of its tasks. */
  use: z.int().positive(),
  /** The share of alpha that this use may spend. */
  alpha: z.number().positive().max(1),
  run: RunId.nullable(),
  at: z.number(),
})
export type HoldoutUse = z.infer<typeof HoldoutUse>
