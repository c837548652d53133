import type { PolicySample, TrajectoryId } from '../../core/index.ts'

/**
 * Which turns of an episode carry a loss: all; the `first`, such as a plan; the `rest` after it, such as the acts that follow a
 * plan; or the `last`, such as a final answer. The others are context.
 */
export type Turns = 'all' | 'first' | 'rest' | 'last'

/** The flags of those turns alone. A turn is what is flagged without a gap. */
export function onlyTurns(flags: readonly boolean[], turns: Turns): readonly boolean[] {
  if (turns === 'all') return flags
  const first = flags.indexOf(true)
  const end = flags.indexOf(false, Math.max(0, first))
  const last = flags.lastIndexOf(true)
  const start = flags.lastIndexOf(false, last)
  return flags.map((flag, t) => {
    if (!flag || turns === 'last') return flag && t > start
    const inFirst = end < 0 || t < end
    return turns === 'first' ? inFirst : !inFirst
  })
}

/** Turns by their place in an episode: a branch that begins with what an earlier one carries has no first turn of its own. */
export function samplesOfTurns(samples: readonly PolicySample[], turns: Turns): readonly PolicySample[] {
  if (turns === 'all') return samples
  const begun = new Set<TrajectoryId>()
  return samples.map((sample) => {
    const { trajectory, sampled } = sample
    const goesOn = trajectory !== undefined && begun.has(trajectory)
    if (trajectory !== undefined) begun.add(trajectory)
    const kept =
      goesOn && turns !== 'last' ? sampled.map((flag) => flag && turns === 'rest') : onlyTurns(sampled, turns)
    return { ...sample, sampled: kept, advantages: sample.advantages.map((advantage, t) => (kept[t] ? advantage : 0)) }
  })
}
