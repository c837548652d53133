import type { CreditEstimator, DecisionId, Group, Trajectory, TrajectoryId } from '../../core/index.ts'
import { CreditError } from '../credit-error.ts'
import { requireWithin } from '../option.ts'
import { knownRewards, mean } from '../outcome.ts'
import { stepDurations } from './step-durations.ts'
import { weighted } from './weighted.ts'

export interface DurationAwareOptions {
  readonly outcome: CreditEstimator
  /** How long what each Step did took, in any one unit; `null` where it is not known. Default {@link stepDurations}. */
  readonly durations?: (trajectory: Trajectory) => readonly (number | null)[]
  /** The most that a Step weighs, at least 1: one that hung must not drown all others. Default 10. */
  readonly most?: number
}

/**
 * Weighs a Step by how long its action took, over the mean of its group: A′ = A·min(Δt/mean Δt, most).
 *
 * Duration-aware gradient updates ("Reinforcement Learning for Machine Learning Engineering Agents", Yang et al. 2025,
 * section 4). A trainer that learns from whatever is done first sees fast actions more often than slow ones, and drowns
 * slow, good ones; the weight undoes that. Where all attempts of a batch are waited for, it only adds variance: leave it out.
 * @throws CreditError, when it credits rollouts of which none says when its messages were recorded, unless `durations` is given.
 */
export function durationAware({
  outcome,
  durations = stepDurations,
  most = 10,
}: DurationAwareOptions): CreditEstimator {
  requireWithin(most, { estimator: 'durationAware', option: 'most', least: 1, most: Number.MAX_VALUE })
  const read = durations === stepDurations
  const estimator = weighted('duration-aware', outcome, (groups) => {
    if (read) requireTimes(groups)
    const weights = new Map<TrajectoryId, ReadonlyMap<DecisionId, number>>()
    for (const group of groups) for (const [id, own] of weightsIn(group, durations, most)) weights.set(id, own)
    return (trajectory, decision) => weights.get(trajectory)?.get(decision) ?? null
  })
  return { ...estimator, ...(read && { readsTimes: true }) }
}

/** @throws CreditError where no step of rollouts tells when it was: all would weigh the same, unnoticed. */
function requireTimes(groups: readonly Group[]): void {
  const rollouts = groups
    .flatMap(({ attempts }) => attempts)
    .filter(({ trajectory: { origin, steps } }) => origin.kind === 'rollout' && steps.length > 0)
  if (rollouts.length === 0) return
  if (rollouts.some(({ trajectory: { nodes } }) => nodes.some(({ at }) => at !== undefined))) return
  throw new CreditError({
    code: 'credit/no-durations',
    message: `durationAware cannot tell how long a step took: none of ${rollouts.length} episodes says when its messages were recorded.`,
    hint: 'Call rollout with timed: true, as learn does, or pass durations.',
  })
}

function* weightsIn(
  group: Group,
  durations: NonNullable<DurationAwareOptions['durations']>,
  most: number,
): Generator<readonly [TrajectoryId, ReadonlyMap<DecisionId, number>]> {
  const attempts = knownRewards(group).map(({ attempt }) => attempt)
  const lasted = attempts.map(({ trajectory }) => durations(trajectory).map(finite))
  const typical = mean(lasted.flat().filter((duration) => duration !== null))
  for (const [i, { trajectory }] of attempts.entries()) {
    const weights = new Map<DecisionId, number>()
    for (const { id, step } of trajectory.decisions) {
      const duration = lasted[i]?.[step] ?? null
      if (duration !== null && typical > 0) weights.set(id, Math.min(duration / typical, most))
    }
    yield [trajectory.id, weights]
  }
}

const finite = (duration: number | null) =>
  duration !== null && Number.isFinite(duration) && duration >= 0 ? duration : null
