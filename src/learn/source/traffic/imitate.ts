import { rng } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
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
  const imitation = present(run.plan.imitation, 'what imitates')
  while (run.state.passes < passes) {
    const pass = run.state.passes + 1
    const again = await replayed(run, pass)
    const all = [...demonstrations, ...again]
    if (all.length === 0) break
    const order = rng('imitate', seed, run.run.id, pass)
    const given = { trainer: run.trainer, demonstrations: all, rng: order, defaults: supervised }
    const metrics = await timed(run, () => imitation.imitate(given))
    run.state = { ...run.state, passes: pass, replayed: run.state.replayed + again.length }
    run.emit({ type: 'imitated', pass, passes, metrics, seconds: run.state.learningSeconds })
    await run.checkpoint()
    run.pause()
  }
}

/**
 * Passes over what people preferred. One piece of work: the reference is the weights as they stand before the first pass,
 * which a run that is resumed in between no longer has.
 */
export async function prefer(run: TrafficRun): Promise<void> {
  const { pairs } = await materialOf(run)
  const { preferencePasses: passes } = run.schedule
  if (pairs.length === 0 || passes === 0) return
  const { seed = 0, preference: defaults = {} } = run.options
  const { trainer } = run
  const preferring = present(run.plan.preferring, 'what prefers')
  const given = { trainer, pairs, passes, rng: rng('prefer', seed, run.run.id), defaults }
  const metrics = await timed(run, () => preferring.prefer(given))
  run.state = { ...run.state, preferences: passes }
  run.emit({ type: 'preferred', pass: passes, passes, metrics, seconds: run.state.learningSeconds })
}
