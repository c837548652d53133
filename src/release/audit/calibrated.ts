import type { Repositories } from '../../core/index.ts'
import { calibrate, type Calibration, calibrationSessions, type RewardRange } from '../../gate/index.ts'
import { keptOutcomes } from '../outcomes.ts'
import { auditOf } from './draw.ts'

/** Canaries that are read, the latest: what signals are worth drifts. */
const mostCanaries = 50

/**
 * How well each signal of an agent's behaviour predicts the truth, by the labels of its audited canaries, oldest first.
 * Sessions that were judged before their signals were kept are left out.
 * @param range of the agent's rewards: floor and ceiling.
 * @param now milliseconds since the epoch.
 * @throws StoreError
 */
export async function calibrationOf(
  store: Pick<Repositories, 'audits' | 'canaries'>,
  agent: string,
  range: RewardRange,
  now: number,
): Promise<Calibration> {
  const latest = await store.canaries.list({ agent, limit: mostCanaries })
  const sessions = []
  for (const canary of latest.toReversed()) {
    if (auditOf(canary) !== null) sessions.push(...calibrationSessions(await keptOutcomes(store, canary, now)))
  }
  return calibrate(sessions, range)
}
