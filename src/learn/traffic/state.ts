import { z } from 'zod'
import { CanaryId, GateDecision, HoldoutUse, ReceiptId } from '../../core/index.ts'
import { Divergence, TrafficOutcome } from './events.ts'
import { EvidenceReport } from './evidence-report.ts'

const count = z.int().nonnegative()

/** Where a run stands: with the checkpoint's blobs, everything that resuming needs. */
export const TrafficState = z.strictObject({
  /** What comes next. */
  phase: z.enum(['gather', 'anchor', 'practise', 'imitate', 'prefer', 'judge', 'serve', 'done']),
  /** What was gathered. */
  report: EvidenceReport.nullable(),
  /** Passes over demonstrations and preferences, and epochs of policy gradient, that are done. */
  passes: count,
  preferences: count,
  epochs: count,
  replayed: count,
  divergence: Divergence.nullable(),
  /** The use of the holdout that this run has claimed, and what the gate said. */
  use: HoldoutUse.nullable(),
  receipt: ReceiptId.nullable(),
  decision: GateDecision.nullable(),
  outcome: TrafficOutcome.nullable(),
  reason: z.string(),
  canary: CanaryId.nullable(),
  events: count,
  checkpoints: count,
  tokensTrained: count,
  /** Seconds of learning; and of everything. */
  learningSeconds: z.number().nonnegative(),
  seconds: z.number().nonnegative(),
})
export type TrafficState = z.infer<typeof TrafficState>

/** Where every run begins. */
export const initialTrafficState: TrafficState = {
  phase: 'gather',
  report: null,
  passes: 0,
  preferences: 0,
  epochs: 0,
  replayed: 0,
  divergence: null,
  use: null,
  receipt: null,
  decision: null,
  outcome: null,
  reason: '',
  canary: null,
  events: 0,
  checkpoints: 0,
  tokensTrained: 0,
  learningSeconds: 0,
  seconds: 0,
}
