import { causedByPolicy, type Repositories, type ScoredTrajectory, type TaskId } from '../core/index.ts'
import { type ArmResult, broughtInWords, levelInWords } from '../gate/index.ts'
import type { Course } from './run/course.ts'
import type { LearnRun } from './run/learn-run.ts'

/**
 * Asks the gate whether the candidate beats what serves and every rival, and keeps the candidate and the receipt. Without
 * held-out tasks only a canary can say something of it.
 */
export async function judge<R extends LearnRun>(course: Course<R>): Promise<void> {
  const { run } = course
  const { store } = run.options
  const measured = await course.measure(run)
  const { candidates, candidateSet, servingSet } = run
  const mint = async (tx: Repositories) => {
    for (const version of candidates) await tx.versions.put(version)
  }
  if (measured === null) return run.enter('release', {}, mint)
  const { gate, use, outcomes, suites, rivals, brought, reward, rates, remarks } = measured
  const level = await store.levels.get(run.key, run.run.id)
  const receipt = gate.makeReceipt({
    agent: run.key,
    baseline: servingSet,
    candidate: candidateSet,
    outcomes,
    ...(suites ? { suites } : {}),
    ...(rivals ? { rivals } : {}),
    use,
    rewardRange: [reward.floor, reward.ceiling],
    remarks: [...remarks, ...brought.map(broughtInWords), ...(level === null ? [] : [levelInWords(level)])],
  })
  const { id, decision, reasons } = receipt
  run.emit({ type: 'gated', receipt: id, decision, reasons })
  for (const one of brought) run.emit({ type: 'brought', ...one })
  const judged = { receipt: id, decision, rates, brought }
  const rejected = { outcome: 'rejected', reason: reasons[0] ?? decision } as const
  const keep = async (tx: Repositories) => {
    await tx.receipts.put(receipt)
    await mint(tx)
  }
  if (decision === 'promote') await run.enter('release', judged, keep)
  else await run.enter('done', { ...judged, ...rejected }, keep)
}

/** Counts that the gate's guards compare between the arms. */
export function guardCounts({ trajectory }: ScoredTrajectory): Record<string, number> {
  let brokenCalls = 0
  // A folded context repeats turns: each counts where it was said.
  const said = new Set(trajectory.steps.map(({ action }) => action))
  for (const { id, message } of trajectory.nodes) {
    if (message.role === 'assistant' && said.has(id)) brokenCalls += message.malformedCalls?.length ?? 0
  }
  const unfinished = trajectory.stopReason !== 'done' && causedByPolicy(trajectory.stopReason)
  return { brokenCalls, unfinished: unfinished ? 1 : 0 }
}

/** What an arm earned, by task, as the gate takes it. */
export function resultsOf(scored: readonly ScoredTrajectory[]): ReadonlyMap<TaskId, ArmResult> {
  return new Map(scored.map((one) => [one.trajectory.task.id, { score: one.reward.value, guards: guardCounts(one) }]))
}
