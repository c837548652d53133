import type { Reward, Rubric, Trajectory, TrajectoryId } from '../../core/index.ts'

/**
 * A rubric that goes by the truth where that is known: a session that somebody labelled earns what the label says, from the
 * floor, wrong, to the ceiling, right, whatever people were led to say of it. A veto stays one, and so does what a session
 * earns that came to no end (invariant 5).
 * @param truths from 0, wrong, to 1, right, by the session.
 */
export function byTruth(rubric: Rubric, truths: ReadonlyMap<TrajectoryId, number>): Rubric {
  if (truths.size === 0) return rubric
  const told = ({ id, stopReason }: Trajectory, { status }: Reward) =>
    status !== 'vetoed' && stopReason === 'done' ? truths.get(id) : undefined
  return {
    ...rubric,
    chargedFor: (choice, trajectory, reward) =>
      told(trajectory, reward) === undefined ? (rubric.chargedFor?.(choice, trajectory, reward) ?? 0) : 0,
    async score(trajectory, signals, asOf) {
      const reward = await rubric.score(trajectory, signals, asOf)
      const truth = told(trajectory, reward)
      if (truth === undefined) return reward
      const value = rubric.floor + (rubric.ceiling - rubric.floor) * truth
      return { status: 'scored', value, parts: { ...reward.parts, truth: value } }
    },
  }
}
