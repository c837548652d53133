import type { choiceKind } from '../../agent/index.ts'
import type { Optimizer } from '../../core/index.ts'
import { choiceOptimizer } from './session.ts'

/** How {@link linUcb} learns. */
export interface LinUcbOptions {
  /** Deviations above the mean at which an option is judged, ≥ 0: the more, the more is explored. Default 1. */
  readonly width?: number
}

/**
 * LinUCB: the option whose upper confidence bound is highest is taken, x·θ + width · noise · √(x·A⁻¹x) less its cost (Li et
 * al. 2010, "A contextual-bandit approach to personalized news article recommendation", algorithm 1, with α = width · noise).
 * Without features the bound is that of a Beta posterior. Between two steps it always takes the same option for the same
 * features: its propensities are 1 − explore and what `explore` shares out. It learns from what episodes earned.
 */
export function linUcb({ width = 1 }: LinUcbOptions = {}): Optimizer<typeof choiceKind> {
  return choiceOptimizer({
    name: 'lin-ucb',
    begin: () => ({ by: 'ucb', width }),
    move: ({ policy }) => ({ policy, metrics: {} }),
  })
}
