import type { BlobRef, ParameterName } from '../../core/index.ts'
import type { Policy } from '../episodes.ts'
import type { LearnRun } from './learn-run.ts'

/** What acts, with its adapter where it is kept. */
export type BlobPolicy = Omit<Policy, 'adapter' | 'temperature'> & { readonly adapter: BlobRef | null }

/**
 * The candidate, as it acts where it is measured.
 * @param adapter the candidate's; absent where the run trained none.
 * @param without a Parameter that is put back to what serves; `null`: none.
 */
export function candidatePolicy(
  run: LearnRun,
  adapter: BlobRef | undefined,
  without: ParameterName | null,
): BlobPolicy {
  const others = new Map([...run.candidateActing].filter(([parameter]) => parameter !== without))
  if (adapter === undefined || run.trained === null || run.trained.parameter === without)
    return { adapter: run.servingAdapter, inForce: run.servingInForce, others }
  return { adapter, inForce: run.inForce(run.versionOf(adapter).id, null), others }
}
