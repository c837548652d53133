import type { HoldoutTask, PairedOutcome, TaskId } from '../core/index.ts'

/** What one arm earned on one task. */
export interface ArmResult {
  /** `null` when the evidence is missing through no act of the policy. */
  readonly score: number | null
  /** Guard metrics per attempt, higher is worse, for example `{ brokenCalls: 1, tokens: 420 }`. */
  readonly guards?: Readonly<Record<string, number>>
}

/**
 * Pairs the two arms' results on every held-out task: a task without a result is `null`, never left out (invariant 1).
 * Only `holdout` tasks are admitted, as only they were never shown to an Optimizer (invariant 6).
 */
export function pairOutcomes(
  tasks: readonly HoldoutTask[],
  baseline: ReadonlyMap<TaskId, ArmResult>,
  candidate: ReadonlyMap<TaskId, ArmResult>,
): readonly PairedOutcome[] {
  return tasks.map(({ id }) => {
    const [before, after] = [baseline.get(id), candidate.get(id)]
    const scores = { task: id, baseline: before?.score ?? null, candidate: after?.score ?? null }
    if (!before?.guards || !after?.guards) return scores
    return { ...scores, guards: { baseline: { ...before.guards }, candidate: { ...after.guards } } }
  })
}
