import type { Rng } from '../../../core/index.ts'

/** How many notes a job is about, and how many of them are to be kept. */
export interface JobSize {
  readonly notes: number
  /** At least one, so that who ignores the rule always fails. */
  readonly kept: number
}

/**
 * The size of a job that takes exactly `calls` calls: each note is read, those not kept are moved, and two calls go to
 * the job as a whole (`done`, and `list` or `write`).
 * @param calls 8 to 20.
 */
export function sizeOf(calls: number, random: Rng): JobSize {
  const kept = calls % 2 === 0 ? 2 : 1 + 2 * random.int(2)
  return { notes: (calls - 2 + kept) / 2, kept }
}

/** For each of `size.notes` notes whether it is kept. */
export function keptFlags({ notes, kept }: JobSize, random: Rng): boolean[] {
  return random.shuffle(Array.from({ length: notes }, (_, at) => at < kept))
}
