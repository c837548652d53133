import type { Rubric, ScoredTrajectory, Signal, Trajectory } from '../core/index.ts'
import { RewardError } from './errors.ts'

/** What is known of attempts beside what they did. */
export interface KnownOfAttempts {
  /** Milliseconds since the epoch: nothing later is seen. */
  readonly asOf: number
  /** Signals about the attempts, about others too. Default: none. */
  readonly signals?: readonly Signal[]
}

/** Which attempt is the best, and how the others stand. */
export interface Chosen {
  /** Of the highest reward; of equal ones the first. `null` where no attempt can be chosen. */
  readonly best: ScoredTrajectory | null
  /** All that could be chosen and have the reward of the best, itself included, in their order: what the rubric cannot tell apart. */
  readonly tied: readonly ScoredTrajectory[]
  /**
   * What cannot be chosen, in its order: a reward that is missing says nothing, neither good nor bad; what a guard vetoes was
   * gamed; what did not come to its end is no answer.
   */
  readonly passedOver: readonly ScoredTrajectory[]
}

/**
 * The best of several whole attempts at one task (best of n; with {@link hybrid} as a part of the rubric, the test-time
 * scaling of Jain et al., "R2E-Gym", 2025). An attempt that lacks its evidence is passed over, and is not a bad one: where
 * `passedOver` holds some, a better one may be among them.
 * @param reward knows only what may be known before the answer is given, such as weak tests: whoever chooses by the final
 * check measures no policy any more.
 * @throws RewardError for no attempts, and for attempts at several tasks; and what the rubric throws.
 */
export async function bestAttempt(
  attempts: readonly Trajectory[],
  reward: Rubric,
  { asOf, signals = [] }: KnownOfAttempts,
): Promise<Chosen> {
  checkTask(attempts)
  const choosable: Scored[] = []
  const passedOver: ScoredTrajectory[] = []
  for (const trajectory of attempts) {
    const earned = await reward.score(trajectory, signals, asOf)
    if (earned.status === 'scored' && trajectory.stopReason === 'done') choosable.push({ trajectory, reward: earned })
    else passedOver.push({ trajectory, reward: earned })
  }
  const most = choosable.reduce((highest, one) => Math.max(highest, one.reward.value), Number.NEGATIVE_INFINITY)
  const tied = choosable.filter((one) => one.reward.value === most)
  return { best: tied[0] ?? null, tied, passedOver }
}

interface Scored extends ScoredTrajectory {
  readonly reward: Extract<ScoredTrajectory['reward'], { status: 'scored' }>
}

function checkTask(attempts: readonly Trajectory[]): void {
  const tasks = [...new Set(attempts.map(({ task }) => task.id))]
  if (tasks.length === 1) return
  throw new RewardError(
    tasks.length === 0
      ? {
          code: 'reward/no-attempts',
          message: 'There are no attempts to choose from.',
          hint: 'Give at least one attempt.',
        }
      : {
          code: 'reward/several-tasks',
          message: `The attempts are at ${tasks.length} tasks, among them "${tasks[0]}" and "${tasks[1]}".`,
          hint: 'Choose among the attempts at one task at a time.',
        },
  )
}
