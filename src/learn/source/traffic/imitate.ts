import { rng } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { materialOf } from './material.ts'
import { replayed } from './rehearsal.ts'
import { ImitationSteps, PreferenceSteps } from './steps.ts'
import { timed } from './timed.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import type { TrafficRun } from './traffic-run.ts'

/**
 * Passes over what people showed and took, each with some of what earlier runs learned from; where nothing of it is to be
 * imitated and the policy has practised, one pass over what earlier runs learned from.
 */
export async function imitate(run: TrafficRun, one: TrainedWeights): Promise<void> {
  const { demonstrationPasses } = run.schedule
  const demonstrations = demonstrationPasses > 0 ? (await materialOf(run, one)).demonstrations : []
  const passes = demonstrations.length > 0 ? demonstrationPasses : Math.min(1, one.state.epochs)
  const { seed = 0, supervised } = run.options
  const defaults = { ...ImitationSteps.parse({}), ...supervised }
  const imitation = present(one.plan.imitation, 'what imitates')
  while (one.state.passes < passes) {
    const pass = one.state.passes + 1
    const again = await replayed(run, one, pass)
    const all = [...demonstrations, ...again]
    if (all.length === 0) break
    const order = rng('imitate', seed, run.run.id, pass)
    const given = { trainer: one.trainer, demonstrations: all, rng: order, defaults }
    const metrics = await timed(run, () => imitation.imitate(given))
    one.advance({ passes: pass, replayed: one.state.replayed + again.length })
    run.emit({ type: 'imitated', ...one.named, pass, passes, metrics, seconds: run.state.learningSeconds })
    await run.checkpoint()
    run.pause()
  }
}

/**
 * Passes over what people preferred. One piece of work: the reference is the weights as they stand before the first pass,
 * which a run that is resumed in between no longer has.
 */
export async function prefer(run: TrafficRun, one: TrainedWeights): Promise<void> {
  const { pairs } = await materialOf(run, one)
  const { preferencePasses: passes } = run.schedule
  if (pairs.length === 0 || passes === 0) return
  const { seed = 0, preference } = run.options
  const defaults = { ...PreferenceSteps.parse({}), ...preference }
  const { trainer } = one
  const preferring = present(one.plan.preferring, 'what prefers')
  const given = { trainer, pairs, passes, rng: rng('prefer', seed, run.run.id), defaults }
  const metrics = await timed(run, () => preferring.prefer(given))
  one.advance({ preferences: passes })
  run.emit({ type: 'preferred', ...one.named, pass: passes, passes, metrics, seconds: run.state.learningSeconds })
}
