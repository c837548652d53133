import {
  type AdapterRef,
  type BlobRef,
  type HoldoutTask,
  type HoldoutUse,
  type ScoredTrajectory,
  savedAt,
} from '../core/index.ts'
import { claimHoldout, claimLevel, nextUse } from '../gate/index.ts'
import { whileLoaded } from './episodes.ts'
import { evaluate, firstOfEachTier, inTrainedTiers, judgedEpisodes, successRate } from './evaluate.ts'
import type { Arm, LearnSummary } from './events.ts'
import type { LearningRun } from './learning-run.ts'
import { ratesByTier, type Rivals, rivalsOf } from './rivals.ts'

/** What the held-out tasks showed of each arm, on the tiers that were trained. */
export interface TestResults {
  /** The held-out tasks that judge. */
  readonly tasks: readonly HoldoutTask[]
  /** This use of the holdout, as its ledger has it. */
  readonly use: HoldoutUse
  readonly episodes: Readonly<Record<'serving' | 'learned', readonly ScoredTrajectory[]>>
  /** What the policies earned that the candidate must beat beside what serves. */
  readonly rivals: Rivals
  readonly rates: Pick<LearnSummary, 'base' | 'primed' | 'learned' | 'control'>
}

/**
 * Measures every arm on the same held-out tasks, greedily. The use of the holdout is on its ledger before the first
 * episode opens. Tiers that were not trained judge nothing: what was learned is measured on half as many of their tasks, too,
 * and told beside.
 */
export async function measureArms(run: LearningRun): Promise<TestResults> {
  const { store, reward, model } = run.options
  const judging = judgingTasks(run)
  const tasks = [...judging, ...tasksBeside(run)]
  const use = await claim(run, judging)
  const scripted = (await run.options.baselines?.(tasks)) ?? []
  for (const baseline of ratesByTier(scripted, tasks, reward.ceiling)) run.emit({ type: 'baseline', ...baseline })

  const serving = run.servingVersion.value
  const servingAdapter = serving.kind === 'weights' ? serving.adapter : null
  const adapters: Readonly<Record<Arm, BlobRef | null>> = {
    base: null,
    serving: servingAdapter,
    primed: run.blobs.primed ?? null,
    control: run.blobs.control ?? null,
    learned: run.blobs.best ?? null,
  }
  const measure = async (arm: Arm) => {
    const blob = adapters[arm]
    const inForce = run.inForce(run.versionOf(blob).id, null)
    const asked = arm === 'learned' ? tasks : judging
    const look = (adapter: AdapterRef | null) => evaluate(run, arm, { adapter, inForce }, 'holdout', asked)
    const scored =
      blob === null
        ? await look(null)
        : await whileLoaded(model.sampler, await model.loadAdapter(await savedAt(store.blobs, blob)), look)
    return judgedEpisodes(run, scored)
  }
  const base = await measure('base')
  const primed = await measure('primed')
  const control = run.blobs.control ? await measure('control') : null
  const learned = await measure('learned')

  const rate = (scored: readonly ScoredTrajectory[]) => successRate(scored, reward.ceiling)
  return {
    tasks: judging,
    use,
    episodes: { serving: servingAdapter === null ? base : await measure('serving'), learned },
    rivals: rivalsOf(run, scripted, primed),
    rates: { base: rate(base), primed: rate(primed), control: control && rate(control), learned: rate(learned) },
  }
}

/** What judges: held-out tasks of the tiers that were trained. */
function judgingTasks({ options: { source }, schedule }: LearningRun): readonly HoldoutTask[] {
  return firstOfEachTier(source.holdout, schedule.holdoutTasks).filter(inTrainedTiers(source))
}

/** Held-out tasks of the other tiers. */
function tasksBeside({ options: { source }, schedule }: LearningRun): readonly HoldoutTask[] {
  const judges = inTrainedTiers(source)
  return firstOfEachTier(source.holdout, Math.ceil(schedule.holdoutTasks / 2)).filter((task) => !judges(task))
}

/**
 * Holds that the holdout may be used once more, before a run spends its time on learning; spends nothing.
 * @throws HoldoutExhaustedError when it may not.
 */
export async function assertHoldoutLeft(run: LearningRun): Promise<void> {
  if (run.state.use) return
  const { store, gate } = run.options
  nextUse(await store.ledger.uses(judgingTasks(run).map(({ id }) => id)), gate.alpha)
}

/** Writes this use of the holdout on its ledger, with the state that remembers it: a resumed run spends nothing twice. */
async function claim(run: LearningRun, tasks: readonly HoldoutTask[]): Promise<HoldoutUse> {
  if (run.state.use) return run.state.use
  const { alpha, lifetime } = run.options.gate
  const at = run.clock.now()
  return run.checkpoint(async (tx) => {
    const level = lifetime && (await claimLevel(tx.levels, { agent: run.agent.name, key: run.run.id, lifetime, at }))
    const most = level === null ? {} : { level: level.alpha }
    const use = await claimHoldout(tx.ledger, { tasks, alpha, ...most, run: run.run.id, at })
    run.state = { ...run.state, use }
    return use
  })
}
