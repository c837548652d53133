import type { Rng } from '../../core/index.ts'
import { requireOption } from './errors.ts'

/** What a batch is mixed of. */
export interface ReplayMix<T> {
  readonly fresh: readonly T[]
  /** Samples of earlier updates or tasks, of the same kind: policy samples, or demonstrations. */
  readonly earlier: readonly T[]
  /** The part of the batch that is earlier samples, in expectation; in [0, 1). */
  readonly share: number
  /** Of its own, so that mixing in does not change what else is drawn. */
  readonly rng: Rng
}

/**
 * Rehearsal (Robins 1995): a batch of all fresh samples and so many earlier ones that these are `share` of it. What was
 * learned before stays in the gradient and is not forgotten. A number that is not whole is rounded up or down by chance, so
 * that the share holds over many small batches. Earlier samples repeat only when there are too few.
 * @returns the fresh samples in their order, then the earlier ones.
 * @throws OptimizeError for a share outside of [0, 1).
 */
export function replayMix<T>({ fresh, earlier, share, rng }: ReplayMix<T>): readonly T[] {
  requireOption(share >= 0 && share < 1, `share is ${share}`, 'Make share at least 0 and below 1')
  if (earlier.length === 0) return fresh
  const wanted = (fresh.length * share) / (1 - share)
  const count = Math.floor(wanted) + (rng.next() < wanted % 1 ? 1 : 0)
  const drawn: T[] = []
  while (drawn.length < count) drawn.push(...rng.shuffle(earlier).slice(0, count - drawn.length))
  return [...fresh, ...drawn]
}
