import type { choiceKind } from '../../agent/index.ts'
import type { Optimizer } from '../../core/index.ts'
import { choiceOptimizer } from './session.ts'

/**
 * Thompson sampling: each option is taken as often as it is likely to bring the most, by all that was ever seen of it
 * (Thompson 1933; with features, Agrawal & Goyal 2013). The posteriors are in the value, so that what serves knows how sure it
 * is. It learns from what episodes earned, not from advantages: groups whose attempts all earn the same teach it, too.
 */
export function thompson(): Optimizer<typeof choiceKind> {
  return choiceOptimizer({
    name: 'thompson',
    begin: () => ({ by: 'thompson' }),
    move: ({ policy }) => ({ policy, metrics: {} }),
  })
}
