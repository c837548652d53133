import { rng } from '../../../core/index.ts'
import { preferenceStep, supervisedPass } from '../../../optimize/weights/index.ts'
import { materialOf } from './material.ts'
import { replayed } from './rehearsal.ts'
import { timed } from './timed.ts'
import type { TrafficRun } from './traffic-run.ts'

/**
 * Passes over what people showed and took, each with some of what earlier runs learned from; where nothing of it is to be
 * imitated and the policy has practised, one pass over what earlier runs learned from.
 */
export async function imitate(run: TrafficRun): Promise<void> {
  const { demonstrationPasses } = run.schedule
  const demonstrations = demonstrationPasses > 0 ? (await materialOf(run)).demonstrations : []
  const passes = demonstrations.length > 0 ? demonstrationPasses : Math.min(1, run.state.epochs)
  const { seed = 0, supervised = {} } = run.options
  while (run.state.passes < passes) {
    const pass = run.state.passes + 1
    const again = await replayed(run, pass)
    const all = [...demonstrations, ...again]
    if (all.length === 0) break
    const order = rng('imitate', seed, run.run.id, pass)
    const metrics = await timed(run, () => supervisedPass(run.trainer, all, order, supervised))
    run.state = { ...run.state, passes: pass, replayed: run.state.replayed + again.length }
    run.emit({ type: 'imitated', pass, passes, metrics, seconds: run.state.learningSeconds })
    await run.checkpoint()
    run.pause()
  }
}

/**
 * Passes over what people preferred, and what has come of it all. One piece of work: the reference is the weights as they
 * stand before the first pass, which a run that is resumed in between no longer has.
 */
export async function prefer(run: TrafficRun): Promise<void> {
  const { pairs } = await materialOf(run)
  const { preferencePasses } = run.schedule
  if (pairs.length > 0 && preferencePasses > 0) {
    const { seed = 0, preference = {} } = run.options
    const options = { ...preference, epochs: preferencePasses, rng: rng('prefer', seed, run.run.id) }
    const metrics = await timed(run, () => preferenceStep(run.trainer, pairs, options))
    run.state = { ...run.state, preferences: preferencePasses }
    const { learningSeconds: seconds } = run.state
    run.emit({ type: 'preferred', pass: preferencePasses, passes: preferencePasses, metrics, seconds })
  }
  const { passes, preferences, epochs } = run.state
  if (passes + preferences + epochs > 0) {
    await run.keep('candidate')
  } else if (run.candidates.length === 0) {
    const practised =
      run.schedule.epochs > 0
        ? 'The weights that serve are too far from those that sampled'
        : 'Rewards alone teach nothing without epochs of policy gradient (schedule.epochs)'
    await run.enter('done', { outcome: 'nothing-to-learn', reason: `${practised}, and nobody showed anything.` })
  }
}
