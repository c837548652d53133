import type { ParameterName } from '../../core/index.ts'
import type { WeightsToAct } from './acting-weights.ts'
import type { LearnRun } from './learn-run.ts'
import type { Acting } from './serving.ts'

/** What acts where something is measured, with its weights where they are kept. What it does not name acts as it serves. */
export interface KeptPolicy {
  readonly weights: WeightsToAct
  readonly others?: Acting
}

/**
 * The candidate, as it acts where it is measured.
 * @param without a Parameter that is put back to what serves; `null`: none.
 */
export function candidatePolicy(run: LearnRun, without: ParameterName | null): KeptPolicy {
  const weights = [...run.candidateAdapters].filter(([{ parameter }]) => parameter !== without)
  return {
    weights: new Map(weights.map(([one, adapter]) => [one.parameter, one.actingAt(adapter)])),
    others: new Map([...run.candidateActing].filter(([parameter]) => parameter !== without)),
  }
}
