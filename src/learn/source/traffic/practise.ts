import { type Alert, type Metrics, type PolicySample, rng, tellOnce } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { policyDatum } from '../../../optimize/weights/index.ts'
import type { Divergence } from '../../summary.ts'
import { heedPractice } from '../../run/gradient.ts'
import { materialOf } from './material.ts'
import { runAlert } from './run-alert.ts'
import { timed } from './timed.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import type { TrafficRun } from './traffic-run.ts'

/**
 * Epochs of policy gradient over the batch, while the weights are within bounds of those that sampled: beyond, their
 * samples say little of what the weights would do now. An epoch that ends beyond is gone back from, and taken again with half
 * the step, a bounded number of times. Practice comes first, as everything else moves the weights as well.
 */
export async function practise(run: TrafficRun, one: TrainedWeights): Promise<void> {
  const { samples: fresh, temperature } = await materialOf(run, one)
  const { epochs, recoveries } = run.schedule
  if (fresh.length === 0 || epochs === 0) return
  const measure = () => divergenceOf(one, fresh, temperature ?? 1)
  let divergence = await measure()
  if (!within(run, divergence)) {
    run.emit({ type: 'out-of-bounds', ...one.named, epoch: one.state.epochs, divergence, goesOn: false })
  }
  while (within(run, divergence) && one.state.epochs < epochs && one.state.returns <= recoveries) {
    const epoch = one.state.epochs + 1
    const metrics = await timed(run, () => update(run, one, fresh, epoch))
    const reached = await measure()
    if (within(run, reached)) {
      divergence = reached
      one.advance({ epochs: epoch, divergence })
      run.emit({
        type: 'practised',
        ...one.named,
        epoch,
        epochs,
        metrics,
        divergence,
        seconds: run.state.learningSeconds,
      })
    } else {
      await one.goBack()
      one.advance({ returns: one.state.returns + 1 })
      const goesOn = one.state.returns <= recoveries
      run.emit({ type: 'out-of-bounds', ...one.named, epoch, divergence: reached, goesOn })
    }
    await run.checkpoint()
    run.pause()
  }
  one.advance({ divergence })
  // Once: a run that is gone on with from here has told it.
  if (one.state.returns > 0 || !within(run, divergence)) {
    await run.checkpoint((tx) => tellOnce(tx.alerts, alertOf(run, one)))
  }
}

/** What people are told of practice that went too far, or could not begin. */
function alertOf(run: TrafficRun, { parameter, state: { returns, epochs, divergence } }: TrainedWeights): Alert {
  const message =
    returns === 0
      ? `The weights of "${parameter}" are too far from those that sampled: rewards taught them nothing. Learn more often, or lower source.maxLag.`
      : `Practice moved the weights of "${parameter}" too far, and went back ${returns === 1 ? 'once' : `${returns} times`}; ${epochs} epochs were kept. Lower the learning rate of policyGradient().`
  const evidence = { returns, epochs, ...(divergence && { ratio: divergence.ratio, divergence: divergence.kl }) }
  const name = 'out-of-bounds'
  return runAlert(run, [name, parameter], { kind: 'learning', name, message, evidence, at: run.clock.now() })
}

async function update(
  run: TrafficRun,
  one: TrainedWeights,
  fresh: readonly PolicySample[],
  epoch: number,
): Promise<Metrics> {
  const { plan, parameter, current, trainer, model } = one
  const { returns } = one.state
  const { seed = 0 } = run.options
  const practice = present(plan.practice, 'what practises')
  const { metrics } = await practice.step({
    current,
    gradients: [{ parameter, version: current.version, deposits: fresh }],
    trainer,
    sampler: model.sampler,
    update: epoch - 1,
    rng: rng('practise', seed, run.run.id, epoch),
    pace: 2 ** -returns,
  })
  heedPractice(one, practice.learned?.(fresh) ?? fresh, metrics, (event) => run.emit(event))
  return metrics
}

function within({ schedule }: TrafficRun, { ratio, kl }: Divergence): boolean {
  const [low, high] = schedule.ratio
  return ratio >= low && ratio <= high && kl <= schedule.divergence
}

/** Sequences that are measured at once. */
const together = 16

/** How far the weights are from those that sampled. */
async function divergenceOf(
  { trainer }: TrainedWeights,
  samples: readonly PolicySample[],
  temperature: number,
): Promise<Divergence> {
  let [tokens, ratios, kl] = [0, 0, 0]
  for (let start = 0; start < samples.length; start += together) {
    const some = samples.slice(start, start + together)
    const logprobs = await trainer.forward(
      some.map((sample) => policyDatum(sample, 1)),
      temperature,
    )
    for (const [i, { sampled, behaviourLogprobs }] of some.entries()) {
      for (const [t, logprob] of (logprobs[i] ?? []).entries()) {
        if (sampled[t + 1] !== true) continue
        const log = logprob - (behaviourLogprobs[t + 1] ?? 0)
        tokens++
        ratios += Math.exp(log)
        kl += Math.expm1(log) - log
      }
    }
  }
  return tokens === 0 ? { ratio: 1, kl: 0 } : { ratio: ratios / tokens, kl: kl / tokens }
}
