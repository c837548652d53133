import { z } from 'zod'
import { type Attempted, rateOf, type Standing, tallyOf } from './standing.ts'

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

/** Fewer groups than this, of successes that were expected, are too few to see a fall by. */
const leastExpected = 4
/** A fall to less than this part of what was expected… */
const fallen = 0.5
/** …by so many standard deviations is no chance. */
const sigmas = 3

/**
 * Whether a batch shows that the policy has collapsed: by what its families came to before, far more attempts should have
 * succeeded. Holds whichever families the batch was drawn from. A task counts once, since attempts at one task end alike;
 * and twice in the variance, since what came before was measured on as few.
 */
export function collapsed(before: Standing, batch: readonly Attempted[]): boolean {
  const tasks = new Map<string, { family: string; attempts: number; successes: number }>()
  for (const { task, family, success } of batch) {
    const { attempts, successes } = tasks.get(task) ?? { attempts: 0, successes: 0 }
    tasks.set(task, { family, attempts: attempts + 1, successes: successes + (success ? 1 : 0) })
  }
  let [expected, variance, seen] = [0, 0, 0]
  for (const { family, attempts, successes } of tasks.values()) {
    if (!tallyOf(before, family)) continue
    const rate = rateOf(before, family)
    expected += rate
    variance += 2 * rate * (1 - rate)
    seen += successes / attempts
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

const mean = (part: readonly UpdateSign[]) => part.reduce((sum, { overall }) => sum + overall, 0) / part.length

/** A rise that shows in the mean of so many updates, over that of as many before. */
const visible = 0.02

/** Whether the success of attempts rises still: over so many last updates against those before. */
export function isRising(signs: readonly UpdateSign[], updates: number): boolean {
  const window = Math.max(1, Math.round(updates))
  const before = signs.slice(-2 * window, -window)
  return before.length < window || mean(signs.slice(-window)) >= mean(before) + visible
}

/** Why learning should stop, or `null`. `signs` are those of updates since the last recovery, oldest first. */
export function reasonToStop(signs: readonly UpdateSign[], rule: StopRule): 'silent' | 'still' | null {
  const last = signs.slice(-rule.silent)
  const latest = signs.at(-1)
  if (latest === undefined || latest.overall >= mastered) return null
  const quiet = last.length === rule.silent && last.every(({ groups, informative }) => informative <= silence * groups)
  const half = Math.floor(last.length / 2)
  // Successes that are imitated can teach where no group differs.
  if (quiet && mean(last.slice(-half)) < mean(last.slice(0, half)) + rise) return 'silent'
  const window = 4
  if (signs.length < rule.still + window) return null
  const now = mean(signs.slice(-window))
  const best = Math.max(
    ...Array.from({ length: signs.length - rule.still - window + 1 }, (_, i) => mean(signs.slice(i, i + window))),
  )
  return now < best + rise ? 'still' : null
}
