import { z } from 'zod'
import { type FinalState, Json, parseInput } from '../../core/index.ts'
import { RewardError } from '../errors.ts'
import type { RewardPart } from '../part.ts'
import { pointerKeys, valueAt } from './pointer.ts'
import { Expected } from './reading.ts'
import { heldValues } from './state.ts'

/** Something on the way that the environment itself noticed. */
export const Milestone = z.union([
  /** One of the environment's own counts is so high. */
  z.strictObject({ count: z.string().min(1), atLeast: z.number().positive().default(1) }),
  /** The final state holds a value. */
  z.strictObject({ at: Expected.options[1].shape.at, is: Json }),
])
export type Milestone = z.infer<typeof Milestone>

const MilestoneOptions = z.strictObject({
  /** In the order in which they are reached: one counts only where all before it were. */
  milestones: z.array(Milestone).min(1),
  /** What all of them earn where the end fails; below 1, so that nothing on the way is worth the end. Default 0.5. */
  most: z.number().positive().lt(1).default(0.5),
})

/** How many of them were reached before the first that was not. */
export function reached(state: FinalState, milestones: readonly Milestone[]): number {
  const first = milestones.findIndex((one) => !isReached(state, one))
  return first === -1 ? milestones.length : first
}

function isReached({ state, counts }: FinalState, milestone: Milestone): boolean {
  if ('count' in milestone) {
    return Object.hasOwn(counts, milestone.count) && (counts[milestone.count] ?? 0) >= milestone.atLeast
  }
  const { held, of } = heldValues(valueAt(state, pointerKeys(milestone.at) ?? []), milestone.is)
  return held === of
}

/**
 * Partial credit by instrumentation (Yang et al., "Reinforcement Learning for Machine Learning Engineering Agents", 2025):
 * the greater of what the end earned and `most` times the share of milestones that were reached. It rises with either, and
 * never lies above 1, which the whole outcome alone earns. `null` where the end is not known.
 * @param outcome a part in [0, 1] that says what the end earned.
 * @throws InputError for options that it does not know; RewardError, when it scores, for an outcome outside [0, 1].
 */
export function milestones(outcome: RewardPart, options: z.input<typeof MilestoneOptions>): RewardPart {
  const { milestones: wanted, most } = parseInput(MilestoneOptions, options, 'The milestones')
  return {
    identity: `milestones:${JSON.stringify([outcome.identity, wanted, most])}`,
    async score(trajectory, signals, asOf) {
      const end = await outcome.score(trajectory, signals, asOf)
      if (end === null || trajectory.finalState === null) return end
      if (!(end >= 0 && end <= 1)) {
        throw new RewardError({
          code: 'reward/outcome-out-of-range',
          message: `An outcome beside milestones scored ${end}.`,
          hint: 'Give milestones an outcome from 0 to 1, such as a verifier; weigh what they return.',
        })
      }
      return Math.max(end, (most * reached(trajectory.finalState, wanted)) / wanted.length)
    },
  }
}
