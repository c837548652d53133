import type { TrafficRun } from './traffic-run.ts'

/** Keeps what has come of a run whose weights learned, as its candidate; ends one in which nothing did. */
export async function conclude(run: TrafficRun): Promise<void> {
  const { passes, preferences, epochs } = run.state
  if (passes + preferences + epochs > 0) return run.keep('candidate')
  if (run.candidates.length > 0) return
  const practised =
    run.schedule.epochs > 0
      ? 'The weights that serve are too far from those that sampled'
      : 'Rewards alone teach nothing without epochs of policy gradient (schedule.epochs)'
  await run.enter('done', { outcome: 'nothing-to-learn', reason: `${practised}, and nobody showed anything.` })
}
