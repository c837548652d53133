import type { TrafficRun } from './traffic-run.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'

/** Keeps for the candidate what weights have learned; the last ones end a run in which nothing learned anything. */
export async function conclude(run: TrafficRun, one: TrainedWeights<'candidate'>): Promise<void> {
  const { passes, preferences, epochs } = one.state
  if (passes + preferences + epochs > 0) await one.keep('candidate')
  if (one !== run.weights.at(-1) || run.candidates.length > 0) return
  const practised =
    run.schedule.epochs > 0
      ? 'The weights that serve are too far from those that sampled'
      : 'Rewards alone teach nothing without epochs of policy gradient (schedule.epochs)'
  await run.enter('done', { outcome: 'nothing-to-learn', reason: `${practised}, and nobody showed anything.` })
}
