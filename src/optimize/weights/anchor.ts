import type { WeightsAnchoring } from '../../core/index.ts'
import { demonstrationDatum } from './datum.ts'
import { requireOption } from './errors.ts'

export interface AnchorOptions {
  /** λ > 0: how strongly the weights hold on. */
  readonly strength: number
  /** Sequences that say what matters, at most. Default 64. */
  readonly sequences?: number
  /** Earlier runs that they come from, at most. Default 20. */
  readonly runs?: number
}

/**
 * Elastic weight consolidation (Kirkpatrick et al. 2017), as a part of a {@link sequence}: before anything moves the weights,
 * how much each matters is measured on what earlier runs learned from, and every later step is pulled back by as much.
 * Without earlier runs it does nothing. A trainer that has no anchors is refused before the run.
 * @throws OptimizeError for a strength that is not above 0.
 */
export function anchor({ strength, sequences = 64, runs = 20 }: AnchorOptions): WeightsAnchoring {
  requireOption(strength > 0, `The strength of the anchor is ${strength}`, 'Make it above 0, or leave anchor() out')
  return {
    name: 'anchoring',
    kind: 'weights',
    strength,
    sequences,
    runs,
    async anchor({ trainer: { anchoring }, earlier }) {
      const data = earlier.slice(0, sequences).map((sequence) => demonstrationDatum(sequence, 1))
      if (anchoring === null || data.length === 0) return 0
      await anchoring.hold([await anchoring.importance(data)], strength)
      return data.length
    },
  }
}
