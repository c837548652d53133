import type { HoldoutTask, HoldoutUse, Task } from '../core/index.ts'
import { claimHoldout, claimLevel, type Gate } from '../gate/index.ts'
import { spread } from './preflight/index.ts'
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

/** Up to `limit` tasks of each tier, evenly spread, in their order: a file may have one kind of task after the other. */
export function someOfEachTier<T extends Task>(tasks: readonly T[], limit: number): readonly T[] {
  const tiers = new Map<string, T[]>()
  for (const task of tasks) {
    const { tier = 'all' } = task
    const ofTier = tiers.get(tier)
    if (ofTier) ofTier.push(task)
    else tiers.set(tier, [task])
  }
  const taken = new Set([...tiers.values()].flatMap((ofTier) => spread(ofTier, limit)))
  return tasks.filter((task) => taken.has(task))
}
