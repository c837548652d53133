import type { WeightsImitation } from '../../core/index.ts'
import { supervisedPass, supervisedRate, type SupervisedOptions } from './supervised.ts'

/**
 * Imitation, as a part of a {@link sequence}: supervised passes over demonstrations ({@link supervisedPass}). What is left
 * open is as the run's own options say: `prime.supervised` over rollouts, `supervised` over traffic.
 */
export function imitate(options: SupervisedOptions = {}): WeightsImitation {
  return {
    name: 'imitation',
    kind: 'weights',
    losses: ['cross_entropy'],
    imitate: ({ trainer, demonstrations, rng, pace = 1, defaults }) => {
      const settings = { learningRate: supervisedRate, ...defaults, ...options }
      const paced = { ...settings, learningRate: settings.learningRate * pace }
      return supervisedPass(trainer, demonstrations, rng, paced)
    },
  }
}
