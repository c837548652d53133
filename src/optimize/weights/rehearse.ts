import type { WeightsRehearsal } from '../../core/index.ts'
import { requireOption } from './errors.ts'
import { drawReplay } from './replay.ts'

export interface RehearseOptions {
  /** The part of what is imitated that earlier runs learned from, in (0, 1). Default 0.2. */
  readonly share?: number
  /** Earlier runs that it comes from, at most. Default 20. */
  readonly runs?: number
}

/**
 * Rehearsal, as a part of a {@link sequence}: beside what is imitated, some of what earlier runs learned from is imitated
 * again ({@link drawReplay}), so that it is not forgotten.
 * @throws OptimizeError for a share outside of (0, 1).
 */
export function rehearse({ share = 0.2, runs = 20 }: RehearseOptions = {}): WeightsRehearsal {
  requireOption(share > 0 && share < 1, `The share to rehearse is ${share}`, 'Make it above 0 and below 1')
  return {
    name: 'rehearsal',
    kind: 'weights',
    share,
    runs,
    rehearse: ({ fresh, earlier, rng }) => drawReplay({ fresh, earlier, share, rng }),
  }
}
