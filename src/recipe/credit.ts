import type { CreditEstimator } from '../core/index.ts'
import { groupMean, grpo, leaveOneOut } from '../credit/index.ts'
import type { LearnConfig } from './learn-config.ts'

/** The estimator that a configuration names. */
export function creditOf({ policy }: LearnConfig): CreditEstimator {
  switch (policy.credit) {
    case 'group-mean':
      return groupMean()
    case 'grpo':
      return grpo()
    case 'leave-one-out':
      return leaveOneOut()
  }
}
