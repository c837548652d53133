import type { CreditEstimator } from '../../core/index.ts'
import { advantagesOf } from '../advantages.ts'
import { requireWithin } from '../option.ts'
import { weighted } from './weighted.ts'
import { readsTimesAs } from '../reads-times.ts'

export interface BoundedOptions {
  /** Gives the sign and the size. */
  readonly outcome: CreditEstimator
  /** Says which Decisions did more of it: any estimator of Steps. */
  readonly by: CreditEstimator
  /** b in [0, 1): weights lie in [1 − b, 1 + b]. Default 0.25. */
  readonly band?: number
}

/**
 * Re-weights an outcome's credit by another estimator's, within a band: A′ = A·m, m = 1 + b·sign(A)·s, where s in [−1, 1] is
 * what `by` says of the Decision, over the most that it says of any in the batch. A good Decision has more of the praise and
 * less of the blame; no sign ever turns, however wrong `by` is.
 *
 * The bounded multiplier of turn-level credit. It is for hints that one does not trust enough to add them.
 */
export function bounded({ outcome, by, band = 0.25 }: BoundedOptions): CreditEstimator {
  requireWithin(band, { estimator: 'bounded', option: 'band', least: 0, most: 1 - 1e-9 })
  const bounding = weighted(`bounded(${by.name})`, outcome, async (groups, context) => {
    const { credits } = await by.credit(groups, context)
    const said = advantagesOf(credits)
    // A batch may have more Decisions than a call may have arguments.
    const most = credits.reduce((so, { advantage }) => Math.max(so, Math.abs(advantage ?? 0)), 0)
    return (trajectory, decision, advantage) => {
      const opinion = said.get(trajectory)?.get(decision) ?? null
      if (opinion === null) return null
      return 1 + (most === 0 ? 0 : (band * Math.sign(advantage) * opinion) / most)
    }
  })
  return { ...bounding, ...readsTimesAs(outcome, by) }
}
