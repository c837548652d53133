import type { ScoredTrajectory } from '../../core/index.ts'

/** Comparisons of equal attempts below which nothing is said. */
const enough = 24
/** A reward of which so much is chance teaches nothing. */
const noisy = 0.5

/** How far equal attempts earn equal rewards. */
export interface Repeatability {
  /** Variance between equal attempts over that between all: 0 where the reward follows from what was done, 1 for chance. */
  readonly chance: number
  /** Degrees of freedom that it was measured with. */
  readonly comparisons: number
  readonly noise: boolean
}

/**
 * Compares attempts at one task in which every message is the same, and all that was decided beside: their rewards should be, too. The ratio of variances
 * is one minus the intraclass correlation (Shrout & Fleiss 1979).
 */
export function repeatability(scored: readonly ScoredTrajectory[]): Repeatability {
  const same = new Map<string, number[]>()
  const all: number[] = []
  for (const { trajectory, reward } of scored) {
    // A veto is a verdict on what was done, and no measurement of it.
    if (reward.status !== 'scored') continue
    const said = trajectory.nodes.map(({ message }) => message)
    const key = JSON.stringify([trajectory.task.id, said, trajectory.decisions.map(({ made = null }) => made)])
    const rewards = same.get(key)
    if (rewards) rewards.push(reward.value)
    else same.set(key, [reward.value])
    all.push(reward.value)
  }
  let [within, comparisons] = [0, 0]
  for (const rewards of same.values()) {
    within += squares(rewards)
    comparisons += rewards.length - 1
  }
  const total = all.length > 1 ? squares(all) / (all.length - 1) : 0
  const chance = comparisons === 0 || total === 0 ? 0 : within / comparisons / total
  return { chance, comparisons, noise: comparisons >= enough && chance > noisy }
}

/** The sum of squared deviations from the mean: exactly 0 where all are equal, since they are measured from the first. */
function squares(values: readonly number[]): number {
  const [first = 0] = values
  const mean = values.reduce((sum, value) => sum + (value - first), 0) / values.length
  return values.reduce((sum, value) => sum + (value - first - mean) ** 2, 0)
}
