import type { Rng } from '../../core/index.ts'
import { requireOption } from './errors.ts'

/** What is rehearsed beside what is fresh. */
export interface Replay<T> {
  /** How many fresh ones there are. */
  readonly fresh: number
  /** What was learned before. */
  readonly earlier: readonly T[]
  /** The part of both together that is earlier ones, in expectation; in [0, 1). */
  readonly share: number
  /** Of its own, so that rehearsing does not change what else is drawn. */
  readonly rng: Rng
}

/**
 * Rehearsal (Robins 1995): draws so many earlier ones that, learned beside the fresh, they are `share` of all. What was
 * learned before stays in the gradient and is not forgotten. A number that is not whole is rounded up or down by chance, so
 * that the share holds over many draws. Earlier ones repeat only when there are too few.
 *
 * For supervised learning: samples that other weights drew belong in no policy gradient, which rehearses what went well as
 * demonstrations instead.
 * @throws OptimizeError for a share outside of [0, 1).
 */
export function drawReplay<T>({ fresh, earlier, share, rng }: Replay<T>): readonly T[] {
  requireOption(share >= 0 && share < 1, `share is ${share}`, 'Make share at least 0 and below 1')
  if (earlier.length === 0) return []
  const wanted = (fresh * share) / (1 - share)
  const count = Math.floor(wanted) + (rng.next() < wanted % 1 ? 1 : 0)
  const drawn: T[] = []
  while (drawn.length < count) drawn.push(...rng.shuffle(earlier).slice(0, count - drawn.length))
  return drawn
}
