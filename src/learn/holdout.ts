import type { HoldoutTask, HoldoutUse, Task } from '../core/index.ts'
import { claimHoldout, claimLevel, type Gate } from '../gate/index.ts'
import type { LearnRun } from './run/learn-run.ts'

/**
 * Writes this use of the holdout on its ledger, with the state that remembers it: a resumed run spends nothing twice. It is
 * there before the first episode opens.
 */
export async function claim(run: LearnRun, gate: Gate, tasks: readonly HoldoutTask[]): Promise<HoldoutUse> {
  if (run.state.use) return run.state.use
  const { alpha, lifetime } = gate
  const at = run.clock.now()
  return run.checkpoint(async (tx) => {
    const level = lifetime && (await claimLevel(tx.levels, { agent: run.key, key: run.run.id, lifetime, at }))
    const most = level === null ? {} : { level: level.alpha }
    const use = await claimHoldout(tx.ledger, { tasks, alpha, ...most, run: run.run.id, at })
    run.state = { ...run.state, use }
    return use
  })
}

/** The first `limit` tasks of each tier, in a fixed order. */
export function firstOfEachTier<T extends Task>(tasks: readonly T[], limit: number): readonly T[] {
  const taken = new Map<string, number>()
  return tasks.filter(({ tier = 'all' }) => {
    const count = taken.get(tier) ?? 0
    taken.set(tier, count + 1)
    return count < limit
  })
}
