import { causedByPolicy, type PairedOutcome, type Receipt, type ScoredTrajectory } from '../core/index.ts'
import { present } from '../errors/index.ts'
import type { LearningRun } from './learning-run.ts'
import type { TestResults } from './measure.ts'

/** Counts that the gate's guards compare between the arms. */
export function guardCounts({ trajectory }: ScoredTrajectory): Record<string, number> {
  let brokenCalls = 0
  for (const { message } of trajectory.nodes) {
    if (message.role === 'assistant') brokenCalls += message.malformedCalls?.length ?? 0
  }
  const unfinished = trajectory.stopReason !== 'done' && causedByPolicy(trajectory.stopReason)
  return { brokenCalls, unfinished: unfinished ? 1 : 0 }
}

/** Puts two arms side by side, task by task. */
export function pair(
  baseline: readonly ScoredTrajectory[],
  candidate: readonly ScoredTrajectory[],
): readonly PairedOutcome[] {
  const byTask = new Map(candidate.map((scored) => [scored.trajectory.task.id, scored]))
  return baseline.map((before) => {
    const task = before.trajectory.task.id
    const after = present(byTask.get(task), `the candidate's episode on task ${task}`)
    return {
      task,
      baseline: before.reward.value,
      candidate: after.reward.value,
      guards: { baseline: guardCounts(before), candidate: guardCounts(after) },
    }
  })
}

/** Asks the gate whether the candidate beats what serves, and keeps the candidate and the receipt. */
export async function judge(run: LearningRun, { episodes, use }: TestResults): Promise<Receipt> {
  const { gate, reward, store } = run.options
  const candidate = run.version('best')
  await store.versions.put(candidate)
  const serving = Object.fromEntries([...run.serving.versions].map(([name, { id }]) => [name, id]))
  const receipt = gate.makeReceipt({
    agent: run.agent.name,
    baseline: serving,
    candidate: { ...serving, [run.parameter]: candidate.id },
    outcomes: pair(episodes.serving, episodes.learned),
    use,
    rewardRange: [reward.floor, reward.ceiling],
  })
  await store.receipts.put(receipt)
  run.emit({ type: 'gated', receipt: receipt.id, decision: receipt.decision, reasons: receipt.reasons })
  return receipt
}
