import type { Repositories } from '../../core/index.ts'
import {
  calibrate,
  type Calibration,
  type CalibrationSession,
  calibrationSessions,
  type RewardRange,
} from '../../gate/index.ts'
import { keptPaid } from '../outcomes.ts'
import { auditOf } from './draw.ts'

/** Canaries that are read, the latest: what signals are worth drifts. */
const mostCanaries = 50

/** By what an agent's rewards are paid. */
export interface PaidBy {
  /** Floor and ceiling. */
  readonly range: RewardRange
  /** Hash of the rubric; `null`: that of the latest audited canary. */
  readonly rubric: string | null
}

/**
 * How well each signal of an agent's behaviour predicts the truth, by the labels of its audited canaries, oldest first. What
 * a signal pays has the unit of its rubric: sessions that another one paid are left out, as those are of which nobody kept
 * who did.
 * @param now milliseconds since the epoch.
 * @throws StoreError
 */
export async function calibrationOf(
  store: Pick<Repositories, 'audits' | 'canaries'>,
  agent: string,
  { range, rubric }: PaidBy,
  now: number,
): Promise<Calibration> {
  let wanted = rubric
  const canaries: (readonly CalibrationSession[])[] = []
  // The latest first, as it may be what tells the rubric.
  for (const canary of await store.canaries.list({ agent, limit: mostCanaries })) {
    const audit = auditOf(canary)
    // What a judge alone says is no truth that signals could be measured by.
    if (audit === null || audit.by === 'judge') continue
    const { rubric: payer, outcomes } = await keptPaid(store, canary, now)
    wanted ??= payer
    if (payer !== null && payer === wanted) canaries.push(calibrationSessions(outcomes))
  }
  return calibrate(canaries.toReversed().flat(), range)
}
