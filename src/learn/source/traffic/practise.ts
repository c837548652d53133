import { type Metrics, type PolicySample, rng } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { policyDatum } from '../../../optimize/weights/index.ts'
import type { Divergence } from '../../summary.ts'
import { materialOf } from './material.ts'
import { timed } from './timed.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import type { TrafficRun } from './traffic-run.ts'

/**
 * Epochs of policy gradient over the batch, while the weights are within bounds of those that sampled: beyond, their
 * samples say little of what the weights would do now. It comes first, as everything else moves the weights as well.
 */
export async function practise(run: TrafficRun, one: TrainedWeights): Promise<void> {
  const { samples: fresh, temperature } = await materialOf(run, one)
  const epochs = fresh.length === 0 ? 0 : run.schedule.epochs
  let divergence = epochs > 0 ? await divergenceOf(one, fresh, temperature ?? 1) : null
  while (divergence !== null && one.state.epochs < epochs) {
    if (!within(run, divergence)) {
      run.emit({ type: 'out-of-bounds', ...one.named, epoch: one.state.epochs, divergence })
      break
    }
    const epoch = one.state.epochs + 1
    const metrics = await timed(run, () => update(run, one, fresh, epoch))
    divergence = await divergenceOf(one, fresh, temperature ?? 1)
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
    await run.checkpoint()
    run.pause()
  }
  one.advance({ divergence })
}

async function update(
  run: TrafficRun,
  { plan, parameter, current, trainer, model }: TrainedWeights,
  fresh: readonly PolicySample[],
  epoch: number,
): Promise<Metrics> {
  const { seed = 0 } = run.options
  const { metrics } = await present(plan.practice, 'what practises').step({
    current,
    gradients: [{ parameter, version: current.version, deposits: fresh }],
    trainer,
    sampler: model.sampler,
    update: epoch - 1,
    rng: rng('practise', seed, run.run.id, epoch),
  })
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
