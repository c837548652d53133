import { z } from 'zod'

/** One look at the policy while it imitates: attempts at training tasks that were not demonstrated. */
export const PrimingLook = z.strictObject({
  /** Passes over the demonstrations before it. */
  pass: z.int().nonnegative(),
  /** Share of attempts that succeeded. */
  success: z.number().min(0).max(1),
  /** Share of groups whose attempts differ in reward: what a policy gradient would learn from. */
  informative: z.number().min(0).max(1),
})
export type PrimingLook = Readonly<z.infer<typeof PrimingLook>>

/** Where imitation may end. */
export interface PrimingTarget {
  /** Success, or share of informative groups, at which practice teaches more than imitation. */
  readonly success: number
  readonly informative: number
  /** Looks in a row that bring nothing better before it ends at the best. */
  readonly patience: number
  /** Passes, at most. */
  readonly passes: number
  /** The share of informative groups below which practice has nothing to learn from. */
  readonly hopeless: number
}

/** What to do after a look. `ready` and `best` go on to practice; `hopeless` stops the run. */
export type PrimingVerdict = 'imitate' | 'ready' | 'best' | 'hopeless'

/** A rise in success that is more than chance, at the size of a look. */
const rise = 0.05
/** Success below which a form is still being learned: what the attempts get right by then may not yet end in a success. */
const early = 0.2

/** The look to go back to: the latest of those that differ from the most success by chance. */
export function bestLook(looks: readonly PrimingLook[]): PrimingLook | null {
  return bestLooks(looks).at(-1) ?? null
}

function bestLooks(looks: readonly PrimingLook[]): readonly PrimingLook[] {
  const most = looks.reduce((most, { success }) => Math.max(most, success), 0)
  return looks.filter(({ success }) => success > most - rise)
}

/** The index of the last look that rose by so much over the one that rose before it. */
function lastRise(looks: readonly PrimingLook[]): number {
  let [at, success] = [0, looks[0]?.success ?? 0]
  for (const [i, look] of looks.entries()) if (look.success >= success + rise) [at, success] = [i, look.success]
  return at
}

/**
 * Imitate until success or the informative groups reach the target, or until success rises no more: where hardly anything
 * succeeds yet, it is waited for twice as long. Then practice begins at the best look, if groups told anything there or at looks
 * that were as good. Imitation beyond that makes the policy sure, and its groups uniform.
 */
export function afterLook(looks: readonly PrimingLook[], target: PrimingTarget): PrimingVerdict {
  const bests = bestLooks(looks)
  const best = bests.at(-1)
  const last = looks.at(-1)
  if (best === undefined || last === undefined) return 'imitate'
  if (last.success >= target.success || last.informative >= target.informative) return 'ready'
  const since = looks.length - 1 - lastRise(looks)
  // Before anything succeeds, nothing can be told from looks that show nothing.
  const waits = best.success < early ? 2 : 1
  const stuck = best.success > 0 && since >= waits * target.patience
  if (!stuck && last.pass < target.passes) return 'imitate'
  // One look may show no group that differs by chance, where those that are as good show some.
  return bests.some(({ informative }) => informative >= target.hopeless) ? 'best' : 'hopeless'
}
