import { defaultBudget } from '../../../agent/index.ts'
import type { HoldoutTask, ScoredTrajectory, TaskId } from '../../../core/index.ts'
import { type ArmResult, type Brought, pairOutcomes } from '../../../gate/index.ts'
import { type Batch, type EpisodeHost, runBatch } from '../../episodes.ts'
import { claim, someOfEachTier } from '../../holdout.ts'
import { resultsOf } from '../../judge.ts'
import { whileActing } from '../../run/acting-weights.ts'
import { candidatePolicy, type KeptPolicy } from '../../run/candidate-policy.ts'
import type { Measured } from '../../run/course.ts'
import { leftOutInTurn } from '../../run/leave-out.ts'
import { judgingGate, retirementInWords, tellFewTasks } from '../../run/retire.ts'
import type { HeldOut } from '../../source.ts'
import type { TrafficRun } from './traffic-run.ts'

/** What the held-out tasks say of the candidate, and those of what was learned before; `null` without any. */
export async function measureSuites(run: TrafficRun): Promise<Measured | null> {
  const { source } = run.options
  const { evaluation } = source
  if (evaluation === null) return null
  const gate = judgingGate(run, evaluation.reward)
  const { holdoutTasks } = run.schedule
  const tasks = someOfEachTier(evaluation.holdout, holdoutTasks)
  const use = await claim(run, gate, tasks)
  tellFewTasks(run, use, tasks.length)
  const heldOut = { ...evaluation, holdout: tasks }
  const { outcomes, learned } = await outcomesOf(run, 'held-out', heldOut)
  const brought = await broughtByEach(run, heldOut, learned)
  const suites: Record<string, typeof outcomes> = {}
  for (const [name, suite] of Object.entries(source.suites)) {
    const holdout = someOfEachTier(suite.holdout, holdoutTasks)
    suites[name] = (await outcomesOf(run, name, { ...suite, holdout })).outcomes
  }
  return {
    gate,
    use,
    outcomes,
    ...(Object.keys(suites).length > 0 ? { suites } : {}),
    brought,
    reward: evaluation.reward,
    rates: null,
    remarks: await retirementInWords(run),
  }
}

/** Both arms on the same tasks, greedily. */
async function outcomesOf(run: TrafficRun, suite: string, { holdout, ...where }: HeldOut) {
  const host = hostOf(run, where)
  const serving = await measured(run, host, 'serving', suite, holdout, { weights: new Map() })
  const candidate = candidatePolicy(run, null)
  const learned = resultsOf(await measured(run, host, 'learned', suite, holdout, candidate))
  return { outcomes: pairOutcomes(holdout, resultsOf(serving), learned), learned }
}

/** What each Parameter of the candidate brought, by leaving it out, where several changed. */
async function broughtByEach(
  run: TrafficRun,
  { holdout, ...where }: HeldOut,
  learned: ReadonlyMap<TaskId, ArmResult>,
): Promise<readonly Brought[]> {
  const host = hostOf(run, where)
  return leftOutInTurn(run, { tasks: holdout, learned, reward: where.reward }, (parameter) =>
    attempt(run, host, candidatePolicy(run, parameter), {
      name: `held-out/without-${parameter}`,
      chanceOf: 'held-out/learned',
      tasks: holdout,
      attempts: 1,
    }),
  )
}

/** An arm on a suite, which is told of. */
async function measured(
  run: TrafficRun,
  host: EpisodeHost,
  arm: 'serving' | 'learned',
  suite: string,
  tasks: readonly HoldoutTask[],
  policy: KeptPolicy,
): Promise<readonly ScoredTrajectory[]> {
  // What is retired is the one difference: chance is none.
  const chance = run.retired ? { chanceOf: `${suite}/serving` } : {}
  const scored = await attempt(run, host, policy, { name: `${suite}/${arm}`, tasks, attempts: 1, ...chance })
  const rewards = scored.flatMap(({ reward: { value } }) => (value === null ? [] : [value]))
  const sum = rewards.reduce((total, reward) => total + reward, 0)
  const meanReward = rewards.length === 0 ? null : sum / rewards.length
  run.emit({ type: 'measured', suite, arm, meanReward, n: rewards.length })
  return scored
}

const attempt = (
  run: TrafficRun,
  host: EpisodeHost,
  { weights, ...acting }: KeptPolicy,
  batch: Batch,
): Promise<readonly ScoredTrajectory[]> =>
  whileActing(run, weights, (loaded) => runBatch(host, { weights: loaded, ...acting, temperature: 0 }, batch))

function hostOf(
  run: TrafficRun,
  { agent, environment, reward, budget = defaultBudget }: Omit<HeldOut, 'holdout'>,
): EpisodeHost {
  const { store, seed, signal } = run.options
  return {
    agent,
    models: run.models,
    run: run.run,
    clock: run.clock,
    options: {
      store,
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
