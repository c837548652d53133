import type { Demonstration, WeightsAnchoring } from '../../core/index.ts'
import type { LearnEvent } from '../events.ts'
import type { TrainedWeights } from './trained-weights.ts'

/**
 * Holds on to the weights that earlier runs need, as they serve, before a run moves any.
 * @param anchoring how; `null`: not.
 * @param earlier reads what earlier runs learned from.
 */
export async function holdOn(
  run: { emit(event: LearnEvent): void },
  one: TrainedWeights,
  anchoring: WeightsAnchoring | null,
  earlier: () => Promise<readonly Demonstration[]>,
): Promise<void> {
  if (anchoring === null) return
  const sequences = await anchoring.anchor({ trainer: one.trainer, earlier: await earlier() })
  if (sequences > 0) run.emit({ type: 'anchored', ...one.named, sequences, strength: anchoring.strength })
}
