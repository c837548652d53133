import type { Demonstration, Metrics, Rng, Trainer } from '../../core/index.ts'
import { count, demonstrationDatum, shifted } from './datum.ts'
import { requirePositiveInteger } from './errors.ts'

/** Supervised fine-tuning on demonstrations: one pass is every demonstration once, in a fresh order. */
export interface SupervisedOptions {
  readonly learningRate?: number
  /** Demonstrations an optimizer step; the last batch of a pass may be smaller. */
  readonly batchSize?: number
  readonly gradClipNorm?: number
  readonly weightDecay?: number
}

/**
 * One pass of supervised fine-tuning: minimise the mean −log π(act | context) over the acts of each batch.
 * Observations are context: they carry no loss. Of the metrics, `loss` is the mean over the acts and `tokens` counts all
 * tokens of the data.
 * @throws OptimizeError for a `batchSize` that is not a whole number ≥ 1.
 */
export async function supervisedPass(
  trainer: Trainer,
  demonstrations: readonly Demonstration[],
  rng: Rng,
  { learningRate = 1e-3, batchSize = 16, gradClipNorm = 1, weightDecay = 0 }: SupervisedOptions = {},
): Promise<Metrics> {
  requirePositiveInteger('batchSize', batchSize)
  const order = rng.shuffle(demonstrations)
  let [loss, acts, trained, steps, gradNorm] = [0, 0, 0, 0, 0]
  for (let start = 0; start < order.length; start += batchSize) {
    const batch = order.slice(start, start + batchSize)
    const acted = batch.reduce((sum, { learn }) => sum + count(shifted(learn)), 0)
    if (acted === 0) continue
    const data = batch.map((demonstration) => demonstrationDatum(demonstration, 1 / acted))
    const result = await trainer.forwardBackward(data, { kind: 'cross_entropy' })
    const step = await trainer.optimStep({ learningRate, gradClipNorm, weightDecay })
    loss += result.loss * acted
    acts += acted
    trained += result.tokens.data
    gradNorm += step.gradNorm
    steps++
  }
  return { loss: loss / Math.max(1, acts), gradNorm: gradNorm / Math.max(1, steps), steps, tokens: trained }
}
