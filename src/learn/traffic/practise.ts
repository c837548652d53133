import { type Metrics, type PolicySample, rng } from '../../core/index.ts'
import { InvariantError } from '../../errors/index.ts'
import { policyDatum, preferenceStep, replayMix, supervisedPass } from '../../optimize/weights/index.ts'
import type { Drift } from './events.ts'
import { materialOf } from './material.ts'
import { rehearsalOf } from './rehearsal.ts'
import type { TrafficRun } from './traffic-run.ts'

/** Passes over what people showed, each with some of what earlier runs were shown. */
export async function imitate(run: TrafficRun): Promise<void> {
  const { demonstrations } = await materialOf(run)
  const passes = demonstrations.length === 0 ? 0 : run.schedule.demonstrationPasses
  const { seed = 0, supervised = {} } = run.options
  while (run.state.passes < passes) {
    const pass = run.state.passes + 1
    const metrics = await timed(run, async () => {
      const earlier = (await rehearsalOf(run)).demonstrations
      const replay = { earlier, share: run.schedule.replay, rng: rng('imitate-replay', seed, run.run.id, pass) }
      const order = rng('imitate', seed, run.run.id, pass)
      return supervisedPass(run.trainer, demonstrations, order, { ...supervised, replay })
    })
    run.state = { ...run.state, passes: pass, replayed: run.state.replayed + (metrics.replayed ?? 0) }
    run.emit({ type: 'imitated', pass, passes, metrics, seconds: run.state.learningSeconds })
    await run.checkpoint()
    run.pause()
  }
  await run.enter('prefer')
}

/**
 * Passes over what people preferred. One piece of work: the reference is the weights as they stand before the first pass,
 * which a run that is resumed in between no longer has.
 */
export async function prefer(run: TrafficRun): Promise<void> {
  const { pairs } = await materialOf(run)
  const { preferencePasses: passes } = run.schedule
  if (pairs.length > 0 && passes > 0) {
    const { seed = 0, preference = {} } = run.options
    const metrics = await timed(run, () =>
      preferenceStep(run.trainer, pairs, { ...preference, epochs: passes, rng: rng('prefer', seed, run.run.id) }),
    )
    run.state = { ...run.state, preferences: passes }
    run.emit({ type: 'preferred', pass: passes, passes, metrics, seconds: run.state.learningSeconds })
  }
  await run.enter('practise')
}

/**
 * Epochs of policy gradient over the batch, while the weights are within bounds of those that sampled: beyond, their
 * samples say little of what the weights would do now.
 */
export async function practise(run: TrafficRun): Promise<void> {
  const { gradients, temperature } = await materialOf(run)
  const fresh = gradients.flatMap(({ samples }) => samples)
  const epochs = fresh.length === 0 ? 0 : run.schedule.epochs
  let drift = epochs > 0 ? await driftOf(run, fresh, temperature ?? 1) : null
  while (drift !== null && run.state.epochs < epochs) {
    if (!within(run, drift)) {
      run.emit({ type: 'out-of-bounds', epoch: run.state.epochs, drift })
      break
    }
    const epoch = run.state.epochs + 1
    const metrics = await timed(run, () => update(run, fresh, epoch))
    drift = await driftOf(run, fresh, temperature ?? 1)
    run.state = { ...run.state, epochs: epoch, drift, replayed: run.state.replayed + (metrics.replayed ?? 0) }
    run.emit({ type: 'practised', epoch, epochs, metrics, drift, seconds: run.state.learningSeconds })
    await run.checkpoint()
    run.pause()
  }
  run.state = { ...run.state, drift }
  const { passes, preferences, epochs: practised } = run.state
  if (passes + preferences + practised > 0) {
    await run.keep('candidate', await run.trainer.saveWeights())
    await run.enter('judge')
  } else {
    const reason = 'The weights that serve are too far from those that sampled, and nobody showed anything.'
    await run.enter('done', { outcome: 'nothing-to-learn', reason })
  }
}

async function update(run: TrafficRun, fresh: readonly PolicySample[], epoch: number): Promise<Metrics> {
  const { seed = 0, model } = run.options
  const { value, id } = run.servingVersion
  if (value.kind !== 'weights') throw new InvariantError(`the learning parameter holds a ${value.kind} value`)
  const earlier = (await rehearsalOf(run)).samples
  const mixed = replayMix({
    fresh,
    earlier,
    share: run.schedule.replay,
    rng: rng('practise-replay', seed, run.run.id, epoch),
  })
  const { metrics } = await run.optimizer.step({
    current: { version: id, value },
    gradients: [{ kind: 'weights', parameter: run.parameter, version: id, samples: mixed }],
    trainer: run.trainer,
    sampler: model.sampler,
    update: epoch - 1,
    rng: rng('practise', seed, run.run.id, epoch),
    evaluate: () => Promise.reject(new InvariantError('candidates of traffic are judged by gates')),
  })
  return { ...metrics, replayed: mixed.length - fresh.length }
}

function within({ schedule }: TrafficRun, { ratio, kl }: Drift): boolean {
  const [low, high] = schedule.ratio
  return ratio >= low && ratio <= high && kl <= schedule.divergence
}

/** Sequences that are measured at once. */
const together = 16

/** How far the weights are from those that sampled. */
async function driftOf(run: TrafficRun, samples: readonly PolicySample[], temperature: number): Promise<Drift> {
  let [tokens, ratios, divergence] = [0, 0, 0]
  for (let start = 0; start < samples.length; start += together) {
    const some = samples.slice(start, start + together)
    const logprobs = await run.trainer.forward(
      some.map((sample) => policyDatum(sample, 1)),
      temperature,
    )
    for (const [i, { sampled, behaviourLogprobs }] of some.entries()) {
      for (const [t, logprob] of (logprobs[i] ?? []).entries()) {
        if (sampled[t + 1] !== true) continue
        const log = logprob - (behaviourLogprobs[t + 1] ?? 0)
        tokens++
        ratios += Math.exp(log)
        divergence += Math.expm1(log) - log
      }
    }
  }
  return tokens === 0 ? { ratio: 1, kl: 0 } : { ratio: ratios / tokens, kl: divergence / tokens }
}

/** Does one piece of learning, and adds its time and its tokens to the run's. */
async function timed(run: TrafficRun, work: () => Promise<Metrics>): Promise<Metrics> {
  const began = run.clock.now()
  const metrics = await work()
  run.state = {
    ...run.state,
    learningSeconds: run.state.learningSeconds + (run.clock.now() - began) / 1000,
    tokensTrained: run.state.tokensTrained + (metrics.tokens ?? 0),
  }
  return metrics
}
