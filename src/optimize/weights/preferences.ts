import type { PreferringSettings, WeightsPreferring } from '../../core/index.ts'
import type { PairSource } from './group-pairs.ts'
import { preferenceStep } from './preference.ts'

/** What is preferred, beside how. */
export interface PreferencesOptions extends PreferringSettings {
  /**
   * Pairs that a run over rollouts makes of each update's own attempts: `groupPairs()` or `siblingPairs()`. Default: none, and
   * only traffic has pairs, which people preferred.
   */
  readonly from?: PairSource
}

/**
 * Learning from preferences, as a part of a {@link sequence}: direct preference optimisation ({@link preferenceStep}). What
 * is left open is as the run's own option `preference` says.
 */
export function preferences({ from, ...options }: PreferencesOptions = {}): WeightsPreferring {
  return {
    name: 'preferences',
    kind: 'weights',
    losses: ['cross_entropy'],
    ...(from && { pairsIn: (groups, _, parameter) => from(groups, parameter) }),
    prefer: ({ trainer, pairs, passes, rng, defaults }) =>
      preferenceStep(trainer, pairs, { ...defaults, ...options, epochs: passes, rng }),
  }
}
