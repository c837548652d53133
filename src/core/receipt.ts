import { z } from 'zod'
import { CanaryOutcome, ServingChange } from './canary.ts'
import { GateDecision, HoldoutUse, PairedOutcome, VersionSet } from './gate.ts'
import { CanaryId, ReceiptId } from './id.ts'
import { Json } from './json.ts'

const receipt = {
  id: ReceiptId,
  /** Name and configuration of the gate: with the outcomes, all that decides. */
  gate: z.strictObject({ name: z.string(), config: z.record(z.string(), Json) }),
  agent: z.string(),
  baseline: VersionSet,
  candidate: VersionSet,
  /** What the primary test computed, for people; the decision is recomputed from outcomes, never read from here. */
  evidence: z.record(z.string(), Json),
  decision: GateDecision,
  /** One sentence each, the deciding one first. */
  reasons: z.array(z.string()).min(1),
}

/** Of a comparison on held-out tasks: both arms attempted the same ones. */
export const PairedReceipt = z.strictObject({
  ...receipt,
  outcomes: z.array(PairedOutcome),
  /** Outcomes on tasks learned before, which must not be forgotten, by suite. */
  suites: z.record(z.string(), z.array(PairedOutcome)).optional(),
  /** Outcomes of policies that the candidate had to beat too, as the baseline of each pair, by their names. */
  rivals: z.record(z.string(), z.array(PairedOutcome)).optional(),
  use: HoldoutUse,
})
export type PairedReceipt = z.infer<typeof PairedReceipt>

/** Of a comparison on live sessions, each of which had one of the arms. */
export const CanaryReceipt = z.strictObject({
  ...receipt,
  canary: CanaryId,
  /** The receipt on held-out tasks that the canary began with; `null`: the evidence is canary-only. */
  admission: ReceiptId.nullable(),
  /** Judged sessions, in the order in which the tests saw them. */
  sessions: z.array(CanaryOutcome),
  /**
   * What else came to serve while it ran, in both arms, oldest first: `baseline` and `candidate` are the arms as they were
   * at the end. Left out where nothing did.
   */
  changes: z.array(ServingChange).min(1).exactOptional(),
})
export type CanaryReceipt = z.infer<typeof CanaryReceipt>

/** Everything a gate's decision was made from; replaying it gives the same decision (invariant 7). */
export const Receipt = z.union([PairedReceipt, CanaryReceipt])
export type Receipt = z.infer<typeof Receipt>

/** Whether a receipt is of held-out tasks. */
export function isPaired(receipt: Receipt): receipt is PairedReceipt {
  return 'outcomes' in receipt
}
