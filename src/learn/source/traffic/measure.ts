import { defaultBudget } from '../../../agent/index.ts'
import { type BlobRef, type HoldoutTask, type ScoredTrajectory, savedAt } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { pairOutcomes } from '../../../gate/index.ts'
import { type EpisodeHost, type Policy, runBatch, whileLoaded } from '../../episodes.ts'
import { claim, firstOfEachTier } from '../../holdout.ts'
import { resultsOf } from '../../judge.ts'
import type { Measured } from '../../run/course.ts'
import type { HeldOut } from '../../source.ts'
import type { TrafficRun } from './traffic-run.ts'

/** What the held-out tasks say of the candidate, and those of what was learned before; `null` without any. */
export async function measureSuites(run: TrafficRun): Promise<Measured | null> {
  const { source } = run.options
  const { evaluation } = source
  if (evaluation === null) return null
  const gate = present(run.options.gate, 'the gate')
  const { holdoutTasks } = run.schedule
  const tasks = firstOfEachTier(evaluation.holdout, holdoutTasks)
  const use = await claim(run, gate, tasks)
  const outcomes = await outcomesOf(run, 'held-out', { ...evaluation, holdout: tasks })
  const suites: Record<string, typeof outcomes> = {}
  for (const [name, suite] of Object.entries(source.suites)) {
    const holdout = firstOfEachTier(suite.holdout, holdoutTasks)
    suites[name] = await outcomesOf(run, name, { ...suite, holdout })
  }
  return {
    gate,
    use,
    outcomes,
    ...(Object.keys(suites).length > 0 ? { suites } : {}),
    reward: evaluation.reward,
    rates: null,
    remarks: [],
  }
}

/** Both arms on the same tasks, greedily. */
async function outcomesOf(run: TrafficRun, suite: string, { holdout, ...where }: HeldOut) {
  const host = hostOf(run, where)
  const { servingAdapter, candidateActing, servingInForce: inForce } = run
  const trained = run.trained && run.blobs['candidate']
  const arms = {
    serving: { adapter: servingAdapter, inForce },
    learned: {
      ...(trained
        ? { adapter: trained, inForce: run.inForce(run.versionOf(trained).id, null) }
        : { adapter: servingAdapter, inForce }),
      others: candidateActing,
    },
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
  { adapter, ...acting }: Omit<Policy, 'adapter' | 'temperature'> & { readonly adapter: BlobRef | null },
): Promise<readonly ScoredTrajectory[]> {
  const { model, store } = run.options
  const batch = { name: `${suite}/${arm}`, tasks, attempts: 1 }
  const scored =
    adapter === null
      ? await runBatch(host, { adapter: null, ...acting, temperature: 0 }, batch)
      : await whileLoaded(model.sampler, await model.loadAdapter(await savedAt(store.blobs, adapter)), (loaded) =>
          runBatch(host, { adapter: loaded, ...acting, temperature: 0 }, batch),
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
  { agent, environment, reward, budget = defaultBudget }: Omit<HeldOut, 'holdout'>,
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
    tenant: run.options.source.tenant,
    budget,
    serving: run.serving,
    inForce: (version, checkpoint) => run.inForce(version, checkpoint),
    emit: (event) => run.emit(event),
  }
}
