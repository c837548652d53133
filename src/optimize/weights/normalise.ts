import type { PolicySample, TrajectoryId } from '../../core/index.ts'
import { count } from './datum.ts'
import { requireOption } from './errors.ts'

/**
 * What the sum over a batch's tokens is divided by:
 * - `token`: the tokens of the batch: each counts alike, and a long episode more than a short one (DAPO, Yu et al. 2025);
 * - `sequence`: an episode's tokens and then the episodes: each episode counts alike (GRPO, Shao et al. 2024);
 * - `constant`: a given length and the episodes: an episode's length changes nothing of what a token counts, nor do the
 *   lengths of others (Dr. GRPO, Liu et al. 2025).
 */
export type Normalisation = 'token' | 'sequence' | { readonly constant: number }

/** @throws OptimizeError for a constant that is no length. */
export function requireNormalisation(normalise: Normalisation): void {
  if (typeof normalise === 'string') return
  const { constant } = normalise
  requireOption(constant > 0 && Number.isFinite(constant), `The constant length is ${constant}`, 'Make it above 0')
}

/** What each sample's tokens count in a batch. Branches of one episode are one sequence. */
export function normalised(batch: readonly PolicySample[], normalise: Normalisation): readonly number[] {
  const lengths = new Map<TrajectoryId | PolicySample, number>()
  const episodeOf = (sample: PolicySample) => sample.trajectory ?? sample
  let tokens = 0
  for (const sample of batch) {
    const own = count(sample.sampled)
    tokens += own
    if (own > 0) lengths.set(episodeOf(sample), (lengths.get(episodeOf(sample)) ?? 0) + own)
  }
  return batch.map((sample) => {
    if (normalise === 'token') return 1 / tokens
    if (normalise === 'sequence') return 1 / (lengths.size * (lengths.get(episodeOf(sample)) ?? 1))
    return 1 / (lengths.size * normalise.constant)
  })
}
