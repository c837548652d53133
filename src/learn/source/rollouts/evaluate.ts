import { type Reward, sampledTokens, type ScoredTrajectory, type Task } from '../../../core/index.ts'
import { wilson } from '../../../gate/index.ts'
import { type Policy, runBatch } from '../../episodes.ts'
import type { Arm } from '../../events.ts'
import type { SuccessRate } from '../../summary.ts'
import type { RolloutRun } from './rollout-run.ts'
import type { RolloutSource } from '../../source.ts'

/** Whether an episode reached the reward of a success; `null` when there is no evidence. */
export function succeeded(reward: Reward, threshold: number): boolean | null {
  return reward.status === 'missing' ? null : reward.status === 'scored' && reward.value >= threshold
}

/** Success rate of scored episodes with its 95 % Wilson interval; missing evidence is counted, not averaged. */
export function successRate(scored: readonly ScoredTrajectory[], threshold: number): SuccessRate {
  return rateOf(scored.map(({ reward }) => succeeded(reward, threshold)))
}

/** Success rate of verdicts with its 95 % Wilson interval; `null` is missing evidence. */
export function rateOf(verdicts: readonly (boolean | null)[]): SuccessRate {
  const n = verdicts.filter((verdict) => verdict !== null).length
  const successes = verdicts.filter((verdict) => verdict === true).length
  return {
    success: n === 0 ? null : successes / n,
    n,
    ci: n === 0 ? [0, 1] : wilson(successes, n, 0.95),
    missing: verdicts.length - n,
  }
}

/** The name of the batch in which an arm is measured, after an update or on another occasion. */
export const lookName = (split: 'validation' | 'holdout', arm: Arm, look: number | string): string =>
  `${split}/${arm}/${typeof look === 'number' ? `update-${look}` : look}`

/**
 * Measures an arm greedily on tasks, one attempt each, and tells the success by tier.
 * @param options `look`: the occasion; default: the update. `chanceOf`: the batch whose chance it shares; default: its own.
 */
export async function evaluate(
  run: RolloutRun,
  arm: Arm,
  policy: Omit<Policy, 'temperature'>,
  split: 'validation' | 'holdout',
  tasks: readonly Task[],
  { look = run.state.update, chanceOf }: { readonly look?: number | string; readonly chanceOf?: string } = {},
): Promise<readonly ScoredTrajectory[]> {
  const name = lookName(split, arm, look)
  const batch = { name, tasks, attempts: 1, ...(chanceOf !== undefined && { chanceOf }) }
  const scored = await runBatch(run, { ...policy, temperature: 0 }, batch)
  run.missing.watch(scored)
  const tokens = scored.reduce((sum, { trajectory }) => sum + sampledTokens(trajectory), 0)
  run.state = { ...run.state, tokensSampled: run.state.tokensSampled + tokens }
  for (const tier of new Set(tasks.map((task) => task.tier ?? 'all'))) {
    const ofTier = scored.filter(({ trajectory }) => (trajectory.task.tier ?? 'all') === tier)
    const rate = successRate(ofTier, run.successThreshold)
    run.emit({ type: 'evaluated', arm, split, tier, update: run.state.update, rate })
  }
  return scored
}

/** The episodes that judge: on tasks of the tiers that are trained. The other tiers are measured and told beside. */
export function judgedEpisodes(run: RolloutRun, scored: readonly ScoredTrajectory[]): readonly ScoredTrajectory[] {
  const judges = inTrainedTiers(run.options.source)
  return scored.filter(({ trajectory }) => judges(trajectory.task))
}

/** Whether a task is of a tier that is trained. */
export function inTrainedTiers({ train }: Pick<RolloutSource, 'train'>): (task: Pick<Task, 'tier'>) => boolean {
  const trained = new Set(train.map(({ tier = 'all' }) => tier))
  return ({ tier = 'all' }) => trained.has(tier)
}
