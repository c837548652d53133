import type { TrajectoryId } from '../../../core/index.ts'
import type { GoOn } from '../../run/course.ts'
import { inRangeOf } from '../../run/earned.ts'
import { learnable, ownBatch } from './material.ts'
import { timed } from './timed.ts'
import type { TrafficRun } from './traffic-run.ts'

/**
 * One step of what learns beside the weights, on what its decisions in the batch earned. It commits with the step: a run that
 * is resumed has taken it whole, or not at all.
 */
export async function step(run: TrafficRun, goOn: GoOn): Promise<void> {
  const { asOf, credits } = await ownBatch(run)
  const ids = new Set<TrajectoryId>(credits.map(({ trajectory }) => trajectory))
  const trajectories = await learnable(run, ids, asOf)
  const batch = { trajectories, credits: inRangeOf(run.options.reward, credits) }
  const metrics = await timed(run, () => run.learners.step(batch, 0))
  run.state = { ...run.state, proposed: Object.fromEntries(await run.learners.proposed()) }
  run.emit({ type: 'stepped', metrics, seconds: run.state.learningSeconds })
  if (run.weights.length > 0 || run.candidates.length > 0) return goOn()
  await run.enter('done', { outcome: 'nothing-to-learn', reason: 'What was learned changed nothing that serves.' })
}
