import { type Metrics, type PolicySample, rng } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { policyDatum } from '../../../optimize/weights/index.ts'
import type { Divergence } from '../../summary.ts'
import { materialOf } from './material.ts'
import { timed } from './timed.ts'
import type { TrafficRun } from './traffic-run.ts'

/**
 * Epochs of policy gradient over the batch, while the weights are within bounds of those that sampled: beyond, their
 * samples say little of what the weights would do now. It comes first, as everything else moves the weights as well.
 */
export async function practise(run: TrafficRun): Promise<void> {
  const { samples: fresh, temperature } = await materialOf(run)
  const epochs = fresh.length === 0 ? 0 : run.schedule.epochs
  let divergence = epochs > 0 ? await divergenceOf(run, fresh, temperature ?? 1) : null
  while (divergence !== null && run.state.epochs < epochs) {
    if (!within(run, divergence)) {
      run.emit({ type: 'out-of-bounds', epoch: run.state.epochs, divergence })
      break
    }
    const epoch = run.state.epochs + 1
    const metrics = await timed(run, () => update(run, fresh, epoch))
    divergence = await divergenceOf(run, fresh, temperature ?? 1)
    run.state = { ...run.state, epochs: epoch, divergence }
    run.emit({ type: 'practised', epoch, epochs, metrics, divergence, seconds: run.state.learningSeconds })
    await run.checkpoint()
    run.pause()
  }
  run.state = { ...run.state, divergence }
}

async function update(run: TrafficRun, fresh: readonly PolicySample[], epoch: number): Promise<Metrics> {
  const { seed = 0, model } = run.options
  const current = run.currentWeights
  const { metrics } = await present(run.plan.practice, 'what practises').step({
    current,
    gradients: [{ parameter: run.parameter, version: current.version, deposits: fresh }],
    trainer: run.trainer,
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
  run: TrafficRun,
  samples: readonly PolicySample[],
  temperature: number,
): Promise<Divergence> {
  let [tokens, ratios, kl] = [0, 0, 0]
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
        kl += Math.expm1(log) - log
      }
    }
  }
  return tokens === 0 ? { ratio: 1, kl: 0 } : { ratio: ratios / tokens, kl: kl / tokens }
}
