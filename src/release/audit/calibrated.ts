import type { Repositories, TrajectoryId } from '../../core/index.ts'
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

/** What labels of an agent's audits say. */
export interface SaidByLabels {
  /**
   * How well each signal predicts the truth. What a signal pays has the unit of its rubric: sessions that another one paid are
   * left out, as those are of which nobody kept who did.
   */
  readonly calibration: Calibration
  /** What is true of each session that was labelled, from 0, wrong, to 1, right: whatever paid it. */
  readonly truths: ReadonlyMap<TrajectoryId, number>
}

/**
 * What the labels of an agent's audited canaries say, oldest first.
 * @param now milliseconds since the epoch.
 * @throws StoreError
 */
export async function saidByLabels(
  store: Pick<Repositories, 'audits' | 'canaries'>,
  agent: string,
  { range, rubric }: PaidBy,
  now: number,
): Promise<SaidByLabels> {
  let wanted = rubric
  const truths = new Map<TrajectoryId, number>()
  const canaries: (readonly CalibrationSession[])[] = []
  // The latest first, as it may be what tells the rubric.
  for (const canary of await store.canaries.list({ agent, limit: mostCanaries })) {
    const audit = auditOf(canary)
    // What a judge alone says is no truth that signals could be measured by.
    if (audit === null || audit.by === 'judge') continue
    const { rubric: payer, outcomes } = await keptPaid(store, canary, now)
    for (const { trajectory, audit: told } of outcomes) {
      if (told?.drawn && told.truth !== null) truths.set(trajectory, told.truth)
    }
    wanted ??= payer
    if (payer !== null && payer === wanted) canaries.push(calibrationSessions(outcomes))
  }
  return { calibration: calibrate(canaries.toReversed().flat(), range), truths }
}

/** How well each signal of an agent's behaviour predicts the truth. @throws StoreError */
export async function calibrationOf(...asked: Parameters<typeof saidByLabels>): Promise<Calibration> {
  return (await saidByLabels(...asked)).calibration
}
