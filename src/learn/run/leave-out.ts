import type { HoldoutTask, ParameterName, Rubric, ScoredTrajectory, TaskId } from '../../core/index.ts'
import { type ArmResult, type Brought, broughtBy, pairOutcomes } from '../../gate/index.ts'
import { resultsOf } from '../judge.ts'
import type { LearnRun } from './learn-run.ts'

/** What the candidate earned, and where. */
export interface Whole {
  readonly tasks: readonly HoldoutTask[]
  readonly learned: ReadonlyMap<TaskId, ArmResult>
  readonly reward: Pick<Rubric, 'floor' | 'ceiling'>
}

/**
 * Measures the candidate once more for each Parameter that it changes, with that one put back to what serves: leave-one-out,
 * paired with the whole candidate. Nothing where it changes one alone: that is what the gate compares.
 *
 * It belongs to the use of the holdout that the candidate is judged in: the same tasks, attempted by one more arm. It decides
 * nothing, so it spends nothing of alpha.
 * @param attempt attempts the tasks with the candidate, without this Parameter.
 */
export async function leftOutInTurn(
  run: LearnRun,
  { tasks, learned, reward }: Whole,
  attempt: (parameter: ParameterName) => Promise<readonly ScoredTrajectory[]>,
): Promise<readonly Brought[]> {
  const { candidates } = run
  if (candidates.length < 2) return []
  const all: Brought[] = []
  for (const { parameter, value } of candidates) {
    const without = resultsOf(await attempt(parameter))
    const outcomes = pairOutcomes(tasks, without, learned)
    all.push(broughtBy({ parameter, kind: value.kind }, outcomes, [reward.floor, reward.ceiling]))
  }
  return all
}
