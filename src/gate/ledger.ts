import {
  contentHash,
  type HoldoutTask,
  type HoldoutUse,
  type LedgerRepository,
  type RunId,
  type TaskId,
} from '../core/index.ts'
import { HoldoutExhaustedError } from './errors.ts'

/** After so many uses the share of alpha is 0.6 % of the whole: hardly anything could be shown any more. */
export const MAX_USES = 10

/** Content hash of a set of held-out tasks; their order does not matter. */
export function holdoutHash(taskIds: readonly TaskId[]): string {
  return contentHash(taskIds.toSorted())
}

/**
 * Number and alpha of the next use of a holdout, after the uses of every holdout that shares a task with it: a smaller
 * or a larger cut of the same tasks is not a fresh one. Use k may spend alpha·6/(π²k²), and never more than the earlier uses
 * have left of `alpha`, so that the probability of any false promotion over all uses that a task ever has is at most
 * alpha (union bound).
 * The first use keeps 61 % of alpha, where the power is wanted; unlike alpha/2^k, a tenth use can still promote a large
 * gain. The bound assumes that a candidate owes nothing to earlier outcomes on this holdout but the fact that no
 * earlier one was promoted; a person who reads receipts and steers by them is outside it.
 * @throws HoldoutExhaustedError after `maxUses`, or when the earlier uses have spent all of `alpha`.
 */
export function nextUse(
  uses: readonly Pick<HoldoutUse, 'use' | 'alpha'>[],
  alpha: number,
  maxUses: number = MAX_USES,
): Pick<HoldoutUse, 'use' | 'alpha'> {
  const use = uses.reduce((last, earlier) => Math.max(last, earlier.use), 0) + 1
  const left = alpha - uses.reduce((spent, earlier) => spent + earlier.alpha, 0)
  if (use > maxUses || left <= 0) {
    throw new HoldoutExhaustedError({
      code: 'gate/holdout-exhausted',
      message: `Tasks of this holdout were used ${uses.length} times before, which leaves ${Math.max(left, 0)} of alpha ${alpha}.`,
      hint: `Hold out fresh tasks: after ${maxUses} uses, or with no alpha left, these show nothing any more.`,
    })
  }
  return { use, alpha: Math.min((6 * alpha) / (Math.PI * use) ** 2, left) }
}

/** What one use of a holdout is claimed with. Its tasks are known by their ids. */
export interface HoldoutClaim {
  readonly tasks: readonly HoldoutTask[]
  /** What all uses of any of these tasks together may spend: the gate's alpha. */
  readonly alpha: number
  readonly run: RunId | null
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The level of the candidate that it is used for ({@link claimLevel}), which it must not exceed. Default: any. */
  readonly level?: number
  /** Uses at most. Default {@link MAX_USES}. */
  readonly maxUses?: number
}

/**
 * Writes one use of a holdout on its ledger, and only then gives it: a gate decides nothing without one. Call it
 * before the first outcome is looked at. A run that resumes must go on with the use that it has already written: keep
 * the use in the checkpoint, in the same transaction.
 * @throws HoldoutExhaustedError when the holdout may not be used again.
 */
export async function claimHoldout(
  ledger: LedgerRepository,
  { tasks, alpha, level = 1, run, at, maxUses = MAX_USES }: HoldoutClaim,
): Promise<HoldoutUse> {
  const ids = tasks.map(({ id }) => id)
  const next = nextUse(await ledger.uses(ids), alpha, maxUses)
  const use = { holdout: holdoutHash(ids), use: next.use, alpha: Math.min(next.alpha, level), run, at }
  await ledger.append(use, ids)
  return use
}
