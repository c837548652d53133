import { ReleaseId, type Reward, type Run, type Store, type VersionId } from '../../src/core/index.ts'
import { claimHoldout, pairedGate } from '../../src/gate/index.ts'
import type { Arm, LearnEvent } from '../../src/learn/index.ts'
import type { FixtureTask } from './episodes.ts'
import { at, rate } from './shape.ts'

/** Gates the learned arm against the base, with the primed arm and a constant answer as rivals, by the real gate, and releases it when promoted. */
export async function judge(
  store: Store,
  run: Run,
  holdout: readonly FixtureTask[],
  rewards: ReadonlyMap<Arm, ReadonlyMap<string, Reward>>,
  versions: { readonly before: VersionId; readonly after: VersionId },
) {
  const judging = holdout.filter(({ tier }) => tier === 'single-hop')
  const guards = {
    brokenCalls: { allowed: 0.02, range: [0, 1] as [number, number] },
    unfinished: { allowed: 0.02, range: [0, 1] as [number, number] },
  }
  const gate = pairedGate({ margin: 0.02, alpha: 0.05, guards })
  const use = await claimHoldout(store.ledger, { tasks: judging, alpha: gate.alpha, run: run.id, at })
  const of = (arm: Arm, task: string) => rewards.get(arm)?.get(task)
  const counts = (reward: Reward | undefined) => ({
    brokenCalls: reward?.status === 'vetoed' && reward.guard === 'broken-calls' ? 1 : 0,
    unfinished: reward?.status === 'vetoed' && reward.guard === 'broken-calls' ? 1 : 0,
  })
  const against = (score: (task: FixtureTask, index: number) => number | null) =>
    judging.map((task, i) => ({
      task: task.id,
      baseline: score(task, i),
      candidate: of('learned', task.id)?.value ?? null,
    }))
  const receipt = gate.makeReceipt({
    agent: run.agent,
    baseline: run.versionsIn,
    candidate: { model: versions.after },
    outcomes: judging.map(({ id }) => ({
      task: id,
      baseline: of('base', id)?.value ?? null,
      candidate: of('learned', id)?.value ?? null,
      guards: { baseline: counts(of('base', id)), candidate: counts(of('learned', id)) },
    })),
    rivals: {
      primed: against(({ id }) => of('primed', id)?.value ?? null),
      'constant answer': against((_, i) => Number(i % 7 < 2)),
    },
    use,
    rewardRange: [0, 1],
  })
  await store.receipts.put(receipt)
  const release = receipt.decision === 'promote' ? ReleaseId.parse('release-2') : null
  if (release) {
    await store.releases.put({
      id: release,
      agent: run.agent,
      versions: receipt.candidate,
      receipt: receipt.id,
      run: run.id,
      createdAt: at,
    })
    await store.releases.activate({ agent: run.agent, release, reason: 'promote', generation: 1, at })
  }
  const measured = (arm: Arm) => {
    const all = judging.flatMap(({ id }) => of(arm, id) ?? [])
    const seen = all.filter(({ status }) => status !== 'missing')
    return rate(seen.filter(({ value }) => value === 1).length, seen.length, all.length - seen.length)
  }
  const summary = {
    runId: run.id,
    base: measured('base'),
    primed: measured('primed'),
    control: rewards.has('control') ? measured('control') : null,
    learned: measured('learned'),
    decision: receipt.decision,
    releaseId: release,
    seconds: 372,
    tokensSampled: 301_442,
    tokensTrained: 212_880,
  }
  const events: LearnEvent[] = [
    { type: 'gated', receipt: receipt.id, decision: receipt.decision, reasons: receipt.reasons },
    ...(release ? [{ type: 'released' as const, release }] : []),
    { type: 'finished', summary },
  ]
  return { receipt, release, events }
}
