import { causedByPolicy, type PairedReceipt, type ScoredTrajectory, type TaskId } from '../core/index.ts'
import { type ArmResult, levelInWords, pairOutcomes } from '../gate/index.ts'
import type { LearningRun } from './learning-run.ts'
import type { TestResults } from './measure.ts'
import { primedIsRival } from './rivals.ts'

/** Counts that the gate's guards compare between the arms. */
export function guardCounts({ trajectory }: ScoredTrajectory): Record<string, number> {
  let brokenCalls = 0
  for (const { message } of trajectory.nodes) {
    if (message.role === 'assistant') brokenCalls += message.malformedCalls?.length ?? 0
  }
  const unfinished = trajectory.stopReason !== 'done' && causedByPolicy(trajectory.stopReason)
  return { brokenCalls, unfinished: unfinished ? 1 : 0 }
}

/** What an arm earned, by task, as the gate takes it. */
export function resultsOf(scored: readonly ScoredTrajectory[]): ReadonlyMap<TaskId, ArmResult> {
  return new Map(scored.map((one) => [one.trajectory.task.id, { score: one.reward.value, guards: guardCounts(one) }]))
}

const nothingBeyondImitation =
  'Learning brought nothing beyond imitation: no later checkpoint did as well on validation as the primed policy, which is the candidate.'

/** Asks the gate whether the candidate beats what serves and every rival, and keeps the candidate and the receipt. */
export async function judge(run: LearningRun, { tasks, episodes, rivals, use }: TestResults): Promise<PairedReceipt> {
  const { gate, reward, store } = run.options
  const candidate = run.version('best')
  await store.versions.put(candidate)
  const serving = Object.fromEntries([...run.serving.versions].map(([name, { id }]) => [name, id]))
  const learned = resultsOf(episodes.learned)
  const against = Object.entries(rivals).map(
    ([name, results]) => [name, pairOutcomes(tasks, results, learned)] as const,
  )
  const level = await store.levels.get(run.agent.name, run.run.id)
  const receipt = gate.makeReceipt({
    agent: run.agent.name,
    baseline: serving,
    candidate: { ...serving, [run.parameter]: candidate.id },
    outcomes: pairOutcomes(tasks, resultsOf(episodes.serving), learned),
    rivals: Object.fromEntries(against),
    use,
    rewardRange: [reward.floor, reward.ceiling],
    remarks: [
      ...(primedIsRival(run) && run.state.best?.update === 0 ? [nothingBeyondImitation] : []),
      ...(level === null ? [] : [levelInWords(level)]),
    ],
  })
  await store.receipts.put(receipt)
  run.emit({ type: 'gated', receipt: receipt.id, decision: receipt.decision, reasons: receipt.reasons })
  return receipt
}
