import type { PreferringSettings, WeightsPreferring } from '../../core/index.ts'
import { preferenceStep } from './preference.ts'

/**
 * Learning from preferences, as a part of a {@link sequence}: direct preference optimisation ({@link preferenceStep}). What
 * is left open is as the run's own option `preference` says. Only traffic has pairs that people preferred.
 */
export function preferences(options: PreferringSettings = {}): WeightsPreferring {
  return {
    name: 'preferences',
    kind: 'weights',
    losses: ['cross_entropy'],
    prefer: ({ trainer, pairs, passes, rng, defaults }) =>
      preferenceStep(trainer, pairs, { ...defaults, ...options, epochs: passes, rng }),
  }
}
