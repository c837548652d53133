import type { RecordedTrajectory, Reward, Rubric, Signal } from '../../core/index.ts'
import type { ServeConfig } from '../../gateway/index.ts'
import { trafficRubric } from '../../reward/index.ts'

/** What an episode has earned, and whether that can still change. */
export interface RewardNow {
  readonly reward: Reward
  /** Milliseconds since the epoch; `null` for a reward that stands on record. */
  readonly asOf: number | null
  /** Why it is the least that there is, whatever its parts are; `null` where its parts make it. */
  readonly because: string | null
}

/** Says what episodes earned by what is known of them now. */
export type RewardOf = (
  recorded: Pick<RecordedTrajectory, 'trajectory' | 'reward'>,
  told: readonly Signal[],
) => Promise<RewardNow>

/**
 * Judges traffic as a learner would at this moment: by its agent's rubric in the gateway's configuration, else by the default
 * one. Rollouts were scored when they ended.
 * @param config the gateway's configuration; `null` where there is none.
 */
export function rewardOf(config: ServeConfig | null, now: number): RewardOf {
  const usual = trafficRubric()
  const rubrics = new Map<string, Rubric>()
  for (const { name, learn } of config?.agents ?? []) if (learn) rubrics.set(name, trafficRubric(learn.rubric))
  return async ({ trajectory, reward }, told) => {
    const { origin } = trajectory
    if (origin.kind !== 'traffic') return { reward, asOf: null, because: null }
    const rubric = (origin.agent === null ? undefined : rubrics.get(origin.agent)) ?? usual
    const earned = await rubric.score(trajectory, told, now)
    const { stopReason } = trajectory
    const cut = earned.status === 'scored' && stopReason !== 'done' && earned.value === rubric.floor
    return { reward: earned, asOf: now, because: cut ? `cut short (${stopReason})` : null }
  }
}
