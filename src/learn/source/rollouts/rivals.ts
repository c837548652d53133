import type { HoldoutTask, ScoredTrajectory, TaskId } from '../../../core/index.ts'
import type { ArmResult } from '../../../gate/index.ts'
import { LearnError } from '../../errors.ts'
import { rateOf } from './evaluate.ts'
import type { Baseline } from '../../events.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import type { RolloutRun } from './rollout-run.ts'
import type { ScriptedResults } from './scripted.ts'

/** What rivals earned, by name and task. */
export type Rivals = Readonly<Record<string, ReadonlyMap<TaskId, Pick<ArmResult, 'score'>>>>

/** The rival that a run has of its own: what imitation alone brought. */
const PRIMED = 'primed'

/**
 * Whether the candidate must beat the primed policy: where the run imitated, and was to learn after that. A run without
 * updates is to release what imitation brought.
 */
export function primedIsRival({ taught, schedule }: Primed): boolean {
  return taught !== null && taught.state.passes > 0 && schedule.updates > 0
}

/** A run, as far as it is known whether it imitated. */
interface Primed extends Pick<RolloutRun, 'schedule'> {
  readonly taught: Pick<TrainedWeights, 'state'> | null
}

/** What the candidate must beat beside what serves: the primed policy, and scripted ones that say so. */
export function rivalsOf(
  run: Primed,
  scripted: readonly ScriptedResults[],
  primed: readonly ScoredTrajectory[],
): Rivals {
  const scores = new Map(primed.map(({ trajectory, reward }) => [trajectory.task.id, { score: reward.value }]))
  return {
    ...(primedIsRival(run) && { [PRIMED]: scores }),
    ...Object.fromEntries(
      scripted
        .filter(({ beat }) => beat)
        .map((policy) => [policy.name, new Map([...policy.scores].map(([task, score]) => [task, { score }]))]),
    ),
  }
}

/**
 * How often each scripted policy succeeds, tier by tier.
 * @throws LearnError when two have one name, or one has the name of the run's own rival.
 */
export function ratesByTier(
  scripted: readonly ScriptedResults[],
  tasks: readonly HoldoutTask[],
  ceiling: number,
): readonly Baseline[] {
  refuseSameNames(scripted)
  const tierOf = ({ tier = 'all' }: HoldoutTask) => tier
  return [...new Set(tasks.map(tierOf))].flatMap((tier) => {
    const ofTier = tasks.filter((task) => tierOf(task) === tier)
    return scripted.map(({ name, scores }): Baseline => {
      const verdicts = ofTier
        .map(({ id }) => scores.get(id) ?? null)
        .map((score) => (score === null ? null : score >= ceiling))
      return { name, tier, rate: rateOf(verdicts) }
    })
  })
}

function refuseSameNames(scripted: readonly ScriptedResults[]): void {
  const taken = new Set([PRIMED])
  for (const { name } of scripted) {
    if (taken.has(name)) {
      throw new LearnError({
        code: 'learn/duplicate-baseline',
        message: `Two policies that are measured have the name "${name}".`,
        hint: `Give every scripted policy its own name; "${PRIMED}" is the run's own.`,
      })
    }
    taken.add(name)
  }
}
