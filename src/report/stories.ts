import {
  branches,
  type PairedOutcome,
  type PairedReceipt,
  type RecordedTrajectory,
  rng,
  sampledTokens,
  type TaskId,
  type TrajectoryRepository,
} from '../core/index.ts'
import { type Arm, episodeId, lookName, succeeded } from '../learn/index.ts'
import { ceilingOf } from './arithmetic.ts'
import type { Attempt, Story } from './run-report.ts'

/** Finds the recorded episode of an arm on a held-out task. */
export type FindEpisode = (arm: Arm, task: TaskId) => Promise<RecordedTrajectory | null>

/** @param updates for each arm measured on held-out tasks, the update at which it was. */
export function heldOutEpisodes(
  trajectories: Pick<TrajectoryRepository, 'get'>,
  run: string,
  updates: ReadonlyMap<Arm, number>,
): FindEpisode {
  return async (arm, task) => {
    const update = updates.get(arm)
    return update === undefined ? null : trajectories.get(episodeId(run, lookName('holdout', arm, update), task, 0))
  }
}

/** Tasks looked at to find ones that priming had not solved either. */
const LOOKED_AT = 60
const GAINED = 3

/**
 * Three tasks that only the learned agent solved, chosen by the run's id and not by their looks, and one that it did
 * not: if there is one, one that what served before had solved.
 */
export async function storiesOf(receipt: PairedReceipt, run: string, find: FindEpisode): Promise<readonly Story[]> {
  const ceiling = ceilingOf(receipt)
  const outcomes = rng('stories', run).shuffle(receipt.outcomes)
  const solved = (score: number | null) => score !== null && score >= ceiling
  const missed = ({ candidate }: PairedOutcome) => candidate !== null && candidate < ceiling

  const gains = outcomes.filter(
    ({ baseline, candidate }) => baseline !== null && !solved(baseline) && solved(candidate),
  )
  const lost = outcomes.find((outcome) => solved(outcome.baseline) && missed(outcome))
  const unsolved = lost ?? outcomes.find(missed)

  const fresh: Story[] = []
  const primedToo: Story[] = []
  for (const { task } of gains.slice(0, LOOKED_AT)) {
    if (fresh.length === GAINED) break
    const story = await tell(task, 'gained', ceiling, find)
    if (!story) continue
    const early = story.attempts.find(({ arm }) => arm === 'primed')
    if (early?.solved) primedToo.push(story)
    else fresh.push(story)
  }
  const stories = [...fresh, ...primedToo].slice(0, GAINED)
  const failure = unsolved && (await tell(unsolved.task, lost ? 'lost' : 'unsolved', ceiling, find))
  return failure ? [...stories, failure] : stories
}

/** The arms side by side on one task; `null` when the learned agent's episode was not kept. */
async function tell(
  task: TaskId,
  outcome: Story['outcome'],
  ceiling: number,
  find: FindEpisode,
): Promise<Story | null> {
  const learned = await find('learned', task)
  if (!learned) return null
  const attempts: Attempt[] = []
  for (const arm of ['base', 'serving', 'primed'] as const) {
    const recorded = await find(arm, task)
    if (recorded) attempts.push(attemptOf(arm, recorded, ceiling))
  }
  attempts.push(attemptOf('learned', learned, ceiling))
  const { instruction, tier = null } = learned.trajectory.task
  return { task: { id: task, instruction, tier }, outcome, attempts }
}

function attemptOf(arm: Arm, { trajectory, reward }: RecordedTrajectory, ceiling: number): Attempt {
  const path = branches(trajectory).at(-1) ?? []
  return {
    arm,
    reward,
    solved: succeeded(reward, ceiling),
    stopReason: trajectory.stopReason,
    failure: trajectory.failure,
    messages: path.map(({ message }) => message),
    finalState: trajectory.finalState?.state ?? null,
    tokens: sampledTokens(trajectory),
  }
}
