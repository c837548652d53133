import { z } from 'zod'
import { rateOf, type Standing } from './standing.ts'

/** What is remembered of an update. */
export const UpdateSign = z.strictObject({
  update: z.int().positive(),
  /** Groups that were attempted, and those whose attempts differed in reward. */
  groups: z.int().nonnegative(),
  informative: z.int().nonnegative(),
  /** Rate of success over the training tasks, by family. */
  overall: z.number(),
})
export type UpdateSign = Readonly<z.infer<typeof UpdateSign>>

/** Fewer successes than this are too few to see a fall by. */
const leastExpected = 8
/** A fall to less than this part of what was expected… */
const fallen = 0.5
/** …by so many standard deviations is no chance. */
const sigmas = 4

/**
 * Whether a batch shows that the policy has collapsed: by what its families came to before, far more attempts should have
 * succeeded. Holds whichever families the batch was drawn from.
 */
export function collapsed(
  before: Standing,
  batch: readonly { readonly family: string; readonly success: boolean }[],
): boolean {
  let [expected, variance, seen] = [0, 0, 0]
  for (const { family, success } of batch) {
    if (!before[family]) continue
    const rate = rateOf(before, family)
    expected += rate
    variance += rate * (1 - rate)
    seen += success ? 1 : 0
  }
  return expected >= leastExpected && seen < fallen * expected && seen < expected - sigmas * Math.sqrt(variance)
}

/** When to stop updating for lack of anything to learn from. */
export interface StopRule {
  /** Updates in a row. */
  readonly silent: number
  /** Updates without a rise in success. */
  readonly still: number
}

/** Below this part of informative groups an update says nothing. */
const silence = 1 / 32
/** Success above which few groups differ because nearly all succeed. */
const mastered = 0.9
/** A rise that is worth another wait. */
const rise = 0.03

/** Why learning should stop, or `null`. `signs` are those of updates since the last recovery, oldest first. */
export function reasonToStop(signs: readonly UpdateSign[], rule: StopRule): 'silent' | 'still' | null {
  const last = signs.slice(-rule.silent)
  const latest = signs.at(-1)
  if (latest === undefined || latest.overall >= mastered) return null
  const quiet = last.length === rule.silent && last.every(({ groups, informative }) => informative <= silence * groups)
  if (quiet) return 'silent'
  const window = 4
  if (signs.length < rule.still + window) return null
  const mean = (part: readonly UpdateSign[]) => part.reduce((sum, { overall }) => sum + overall, 0) / part.length
  const now = mean(signs.slice(-window))
  const best = Math.max(
    ...Array.from({ length: signs.length - rule.still - window + 1 }, (_, i) => mean(signs.slice(i, i + window))),
  )
  return now < best + rise ? 'still' : null
}
