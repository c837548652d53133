import { type AdapterRef, type BlobRef, type HoldoutTask, type ScoredTrajectory, savedAt } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { pairOutcomes } from '../../../gate/index.ts'
import { whileLoaded } from '../../episodes.ts'
import type { Arm } from '../../events.ts'
import { claim, firstOfEachTier } from '../../holdout.ts'
import { resultsOf } from '../../judge.ts'
import type { Measured } from '../../run/course.ts'
import type { RolloutOptions } from '../../options.ts'
import { evaluate, inTrainedTiers, judgedEpisodes, successRate } from './evaluate.ts'
import { primedIsRival, ratesByTier, type Rivals, rivalsOf } from './rivals.ts'
import type { RolloutRun } from './rollout-run.ts'
import type { Schedule } from './schedule.ts'

/**
 * Measures every arm on the same held-out tasks, greedily. The use of the holdout is on its ledger before the first
 * episode opens. Tiers that were not trained judge nothing: what was learned is measured on half as many of their tasks, too,
 * and told beside.
 */
export async function measureArms(run: RolloutRun): Promise<Measured> {
  const { store, reward, model } = run.options
  const gate = present(run.options.gate, 'the gate')
  const judging = judgingTasks(run)
  const tasks = [...judging, ...tasksBeside(run)]
  const use = await claim(run, gate, judging)
  const scripted = (await run.options.baselines?.(tasks)) ?? []
  for (const baseline of ratesByTier(scripted, tasks, reward.ceiling)) run.emit({ type: 'baseline', ...baseline })

  const { servingAdapter, candidateActing } = run
  const adapters: Readonly<Record<Arm, BlobRef | null>> = {
    base: null,
    serving: servingAdapter,
    primed: run.blobs.primed ?? null,
    control: run.blobs.control ?? null,
    learned: run.blobs.best ?? null,
  }
  const measure = async (arm: Arm) => {
    const blob = run.trained ? adapters[arm] : servingAdapter
    const inForce = run.trained ? run.inForce(run.versionOf(blob).id, null) : run.servingInForce
    const asked = arm === 'learned' ? tasks : judging
    const others = arm === 'learned' ? candidateActing : new Map()
    const look = (adapter: AdapterRef | null) => evaluate(run, arm, { adapter, inForce, others }, 'holdout', asked)
    const scored =
      blob === null
        ? await look(null)
        : await whileLoaded(model.sampler, await model.loadAdapter(await savedAt(store.blobs, blob)), look)
    return judgedEpisodes(run, scored)
  }
  // Without weights to train, nothing was primed: what serves stands for every arm but the learned one.
  const base = await measure(run.trained ? 'base' : 'serving')
  const primed = run.trained ? await measure('primed') : base
  const control = run.blobs.control ? await measure('control') : null
  const learned = await measure('learned')
  const served = servingAdapter === null || !run.trained ? base : await measure('serving')

  const rate = (scored: readonly ScoredTrajectory[]) => successRate(scored, reward.ceiling)
  const results = resultsOf(learned)
  const against = (earned: Rivals[string]) => pairOutcomes(judging, earned, results)
  return {
    gate,
    use,
    outcomes: pairOutcomes(judging, resultsOf(served), results),
    rivals: Object.fromEntries(
      Object.entries(rivalsOf(run, scripted, primed)).map(([name, earned]) => [name, against(earned)] as const),
    ),
    reward,
    rates: { base: rate(base), primed: rate(primed), control: control && rate(control), learned: rate(learned) },
    remarks: primedIsRival(run) && run.state.best?.update === 0 ? [nothingBeyondImitation] : [],
  }
}

const nothingBeyondImitation =
  'Learning brought nothing beyond imitation: no later checkpoint did as well on validation as the primed policy, which is the candidate.'

/** What judges: held-out tasks of the tiers that were trained. */
export function judgingTasks({
  options: { source },
  schedule,
}: {
  readonly options: Pick<RolloutOptions, 'source'>
  readonly schedule: Pick<Schedule, 'holdoutTasks'>
}): readonly HoldoutTask[] {
  return firstOfEachTier(source.holdout, schedule.holdoutTasks).filter(inTrainedTiers(source))
}

/** Held-out tasks of the other tiers. */
function tasksBeside({ options: { source }, schedule }: RolloutRun): readonly HoldoutTask[] {
  const judges = inTrainedTiers(source)
  return firstOfEachTier(source.holdout, Math.ceil(schedule.holdoutTasks / 2)).filter((task) => !judges(task))
}
