import { defaultBudget } from '../../agent/index.ts'
import {
  type BlobRef,
  type HoldoutTask,
  type HoldoutUse,
  type Rubric,
  type ScoredTrajectory,
  type VersionSet,
  savedAt,
} from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { claimHoldout, claimLevel, levelInWords, pairOutcomes } from '../../gate/index.ts'
import { type EpisodeHost, runBatch, whileLoaded } from '../episodes.ts'
import { firstOfEachTier } from '../evaluate.ts'
import { resultsOf } from '../judge.ts'
import type { HeldOut } from '../source.ts'
import type { Evaluation } from './options.ts'
import type { TrafficRun } from './traffic-run.ts'

/** Asks the gate what the held-out tasks say of the candidate. Without any, only a canary can say something of it. */
export async function judge(run: TrafficRun): Promise<void> {
  const { source, evaluation, store } = run.options
  const candidate = run.candidate
  if (source.evaluation === null || !evaluation) {
    await run.checkpoint((tx) => tx.versions.put(candidate))
    return run.enter('serve')
  }
  const { schedule } = run
  const tasks = firstOfEachTier(source.evaluation.holdout, schedule.holdoutTasks)
  const use = await claim(run, evaluation, tasks)
  const outcomes = await outcomesOf(run, evaluation, 'held-out', { ...source.evaluation, holdout: tasks })
  const suites: Record<string, Awaited<ReturnType<typeof outcomesOf>>> = {}
  for (const [name, suite] of Object.entries(source.suites)) {
    const holdout = firstOfEachTier(suite.holdout, schedule.holdoutTasks)
    suites[name] = await outcomesOf(run, evaluation, name, { ...suite, holdout })
  }
  const { floor, ceiling } = source.evaluation.reward ?? evaluation.reward
  const serving = servingSet(run)
  const level = await store.levels.get(run.key, run.run.id)
  const receipt = evaluation.gate.makeReceipt({
    agent: run.key,
    remarks: level === null ? [] : [levelInWords(level)],
    baseline: serving,
    candidate: { ...serving, [run.parameter]: candidate.id },
    outcomes,
    ...(Object.keys(suites).length > 0 ? { suites } : {}),
    use,
    rewardRange: [floor, ceiling],
  })
  const { decision, reasons } = receipt
  await store.receipts.put(receipt)
  run.emit({ type: 'gated', receipt: receipt.id, decision, reasons })
  await run.checkpoint((tx) => tx.versions.put(candidate))
  if (decision === 'promote') await run.enter('serve', { receipt: receipt.id, decision })
  else {
    const reason = reasons[0] ?? decision
    await run.enter('done', { receipt: receipt.id, decision, outcome: 'rejected', reason })
  }
}

/** What serves, by Parameter. */
export const servingSet = ({ serving }: Pick<TrafficRun, 'serving'>): VersionSet =>
  Object.fromEntries([...serving.versions].map(([name, { id }]) => [name, id]))

/** Writes this use of the holdout on its ledger, with the state that remembers it. */
async function claim(run: TrafficRun, { gate }: Evaluation, tasks: readonly HoldoutTask[]): Promise<HoldoutUse> {
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

/** Both arms on the same tasks, greedily. */
async function outcomesOf(run: TrafficRun, evaluation: Evaluation, suite: string, { holdout, ...where }: HeldOut) {
  const serving = run.servingVersion.value
  const host = hostOf(run, evaluation, where.environment, where.reward ?? evaluation.reward)
  const arms = {
    serving: { adapter: serving.kind === 'weights' ? serving.adapter : null, version: run.servingVersion.id },
    learned: { adapter: present(run.blobs['candidate'], 'the candidate'), version: run.candidate.id },
  }
  const scored = {
    serving: await attempt(run, host, 'serving', suite, holdout, arms.serving),
    learned: await attempt(run, host, 'learned', suite, holdout, arms.learned),
  }
  return pairOutcomes(holdout, resultsOf(scored.serving), resultsOf(scored.learned))
}

async function attempt(
  run: TrafficRun,
  host: EpisodeHost,
  arm: 'serving' | 'learned',
  suite: string,
  tasks: readonly HoldoutTask[],
  { adapter, version }: { readonly adapter: BlobRef | null; readonly version: TrafficRun['candidate']['id'] },
): Promise<readonly ScoredTrajectory[]> {
  const { model, store } = run.options
  const inForce = run.inForce(version, null)
  const batch = { name: `${suite}/${arm}`, tasks, attempts: 1 }
  const scored =
    adapter === null
      ? await runBatch(host, { adapter: null, inForce, temperature: 0 }, batch)
      : await whileLoaded(model.sampler, await model.loadAdapter(await savedAt(store.blobs, adapter)), (loaded) =>
          runBatch(host, { adapter: loaded, inForce, temperature: 0 }, batch),
        )
  const rewards = scored.flatMap(({ reward: { value } }) => (value === null ? [] : [value]))
  const sum = rewards.reduce((total, reward) => total + reward, 0)
  run.emit({
    type: 'measured',
    suite,
    arm,
    meanReward: rewards.length === 0 ? null : sum / rewards.length,
    n: rewards.length,
  })
  return scored
}

function hostOf(
  run: TrafficRun,
  { agent, budget = defaultBudget }: Evaluation,
  environment: HeldOut['environment'],
  reward: Rubric,
): EpisodeHost {
  const { store, model, seed, signal } = run.options
  return {
    agent,
    run: run.run,
    clock: run.clock,
    options: {
      store,
      model,
      reward,
      source: { environment },
      ...(seed === undefined ? {} : { seed }),
      ...(signal ? { signal } : {}),
    },
    schedule: run.schedule,
    budget,
    parameter: run.parameter,
    serving: run.serving,
    inForce: (version, checkpoint) => run.inForce(version, checkpoint),
    emit: (event) => run.emit(event),
  }
}
