import { type HoldoutTask, type ParameterName, type ScoredTrajectory, sampledTokens } from '../../../core/index.ts'
import { pairOutcomes } from '../../../gate/index.ts'
import type { Actor } from './acting.ts'
import { runBatch } from '../../episodes.ts'
import type { Arm } from '../../events.ts'
import { claim, someOfEachTier } from '../../holdout.ts'
import { resultsOf } from '../../judge.ts'
import { whileActing } from '../../run/acting-weights.ts'
import { candidatePolicy, type KeptPolicy } from '../../run/candidate-policy.ts'
import type { Measured } from '../../run/course.ts'
import { leftOutInTurn } from '../../run/leave-out.ts'
import { judgingGate, retirementInWords, tellFewTasks } from '../../run/retire.ts'
import type { RolloutOptions } from '../../options.ts'
import { evaluate, inTrainedTiers, judgedEpisodes, lookName, successRate } from './evaluate.ts'
import { primedIsRival, ratesByTier, type Rivals, rivalsOf } from './rivals.ts'
import type { RolloutRun } from './rollout-run.ts'
import type { Schedule } from './schedule.ts'

/**
 * Measures every arm on the same held-out tasks, greedily. The use of the holdout is on its ledger before the first
 * episode opens. Tiers that were not trained judge nothing: what was learned is measured on half as many of their tasks, too,
 * and told beside.
 */
export async function measureArms(run: RolloutRun): Promise<Measured> {
  const { reward } = run.options
  const gate = judgingGate(run, reward)
  const judging = judgingTasks(run)
  const tasks = [...judging, ...tasksBeside(run)]
  const use = await claim(run, gate, judging)
  tellFewTasks(run, use, judging.length)
  const scripted = (await run.options.baselines?.(tasks)) ?? []
  for (const baseline of ratesByTier(scripted, tasks, run.successThreshold)) run.emit({ type: 'baseline', ...baseline })

  const measure = async (arm: Arm) => {
    const asked = arm === 'learned' ? tasks : judging
    // What is retired is the one difference: chance is none.
    const chance = run.retired ? { chanceOf: lookName('holdout', 'serving', run.state.update) } : {}
    const scored = await whilePolicy(run, policyOf(run, arm), (actor) =>
      evaluate(run, arm, actor, 'holdout', asked, chance),
    )
    return judgedEpisodes(run, scored)
  }
  // Without weights to train, nothing was primed: what serves stands for every arm but the learned one.
  const trains = run.weights.length > 0
  const base = await measure(trains ? 'base' : 'serving')
  const primed = trains ? await measure('primed') : base
  const control = run.taught?.at('control') ? await measure('control') : null
  const learned = await measure('learned')
  const learnedBefore = run.weights.some(({ parameter }) => run.servingAdapter(parameter) !== null)
  const served = learnedBefore ? await measure('serving') : base

  const rate = (scored: readonly ScoredTrajectory[]) => successRate(scored, run.successThreshold)
  const results = resultsOf(learned)
  const brought = await leftOutInTurn(run, { tasks: judging, learned: results, reward }, (parameter) =>
    attemptWithout(run, parameter, judging),
  )
  const against = (earned: Rivals[string]) => pairOutcomes(judging, earned, results)
  return {
    gate,
    use,
    outcomes: pairOutcomes(judging, resultsOf(served), results),
    rivals: Object.fromEntries(
      Object.entries(rivalsOf(run, scripted, primed)).map(([name, earned]) => [name, against(earned)] as const),
    ),
    brought,
    reward,
    rates: { base: rate(base), primed: rate(primed), control: control && rate(control), learned: rate(learned) },
    remarks: [
      ...(primedIsRival(run) && run.state.best?.update === 0 ? [nothingBeyondImitation] : []),
      ...(await retirementInWords(run)),
    ],
  }
}

/** What acts in an arm. Arms without the candidate have what serves of everything but the weights that are trained. */
function policyOf(run: RolloutRun, arm: Arm): KeptPolicy {
  if (arm === 'learned') return candidatePolicy(run, null)
  const weights = run.weights.map((one) => {
    const serving = run.servingAdapter(one.parameter)
    const adapters = { base: null, serving, primed: one.at('primed'), control: one.at('control') ?? serving }
    return [one.parameter, one.actingAt(adapters[arm])] as const
  })
  return { weights: new Map(weights) }
}

/** Works with a policy whose adapters are loaded for it. */
const whilePolicy = <T>(
  run: RolloutRun,
  { weights, ...acting }: KeptPolicy,
  work: (actor: Actor) => Promise<T>,
): Promise<T> => whileActing(run, weights, (loaded) => work({ weights: loaded, ...acting }))

/** The candidate on the same tasks and with the same chance, without what one Parameter learned. */
async function attemptWithout(run: RolloutRun, parameter: ParameterName, tasks: readonly HoldoutTask[]) {
  const { update } = run.state
  const name = `holdout/without-${parameter}/update-${update}`
  const batch = { name, chanceOf: lookName('holdout', 'learned', update), tasks, attempts: 1 }
  const policy = candidatePolicy(run, parameter)
  const scored = await whilePolicy(run, policy, (actor) => runBatch(run, { ...actor, temperature: 0 }, batch))
  const tokens = scored.reduce((sum, { trajectory }) => sum + sampledTokens(trajectory), 0)
  run.state = { ...run.state, tokensSampled: run.state.tokensSampled + tokens }
  return scored
}

const nothingBeyondImitation =
  'Learning brought nothing beyond imitation: no later checkpoint did as well on validation as the primed policy, which is the candidate. To release what imitation alone brings, set schedule.updates to 0.'

/** What judges: held-out tasks of the tiers that were trained. */
export function judgingTasks({
  options: { source },
  schedule,
}: {
  readonly options: Pick<RolloutOptions, 'source'>
  readonly schedule: Pick<Schedule, 'holdoutTasks'>
}): readonly HoldoutTask[] {
  return someOfEachTier(source.holdout, schedule.holdoutTasks).filter(inTrainedTiers(source))
}

/** Held-out tasks of the other tiers. */
function tasksBeside({ options: { source }, schedule }: RolloutRun): readonly HoldoutTask[] {
  const judges = inTrainedTiers(source)
  return someOfEachTier(source.holdout, Math.ceil(schedule.holdoutTasks / 2)).filter((task) => !judges(task))
}
