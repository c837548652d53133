import type { ImitationSettings, Metrics, Rng, Trainer } from '../../core/index.ts'
import { demonstrationDatum, learnable, type WeightedDemonstration } from './datum.ts'
import { requireOption, requirePositiveInteger } from './errors.ts'
import { sumOfTold } from './sum-of-told.ts'

/** Supervised fine-tuning on demonstrations: one pass is every demonstration once, in a fresh order. */
export type SupervisedOptions = ImitationSettings

/** Of a step where nothing else is said. */
export const supervisedRate = 1e-3

/**
 * One pass of supervised fine-tuning: minimise the weighted mean of −log π(act | context) over the acts of each batch.
 * Observations are context: they carry no loss. Of the metrics, `loss` is the weighted mean over the acts, and `tokens`
 * counts all tokens of the data.
 * @throws OptimizeError for a `batchSize` that is not a whole number ≥ 1, or a weight that is negative or not finite.
 */
export async function supervisedPass(
  trainer: Trainer,
  demonstrations: readonly WeightedDemonstration[],
  rng: Rng,
  { learningRate = supervisedRate, batchSize = 16, gradClipNorm = 1, weightDecay = 0 }: SupervisedOptions = {},
): Promise<Metrics> {
  requirePositiveInteger('batchSize', batchSize)
  for (const { weight = 1 } of demonstrations) {
    requireOption(weight >= 0 && Number.isFinite(weight), `A demonstration weighs ${weight}`, 'Make it 0 or more')
  }
  const order = rng.shuffle(demonstrations)
  let [loss, weighed, trained, steps] = [0, 0, 0, 0]
  let gradNorm: number | null = 0
  for (let start = 0; start < order.length; start += batchSize) {
    const batch = order.slice(start, start + batchSize)
    const total = batch.reduce((sum, one) => sum + (one.weight ?? 1) * learnable(one), 0)
    if (total === 0) continue
    const data = batch.map((one) => demonstrationDatum(one, (one.weight ?? 1) / total))
    const result = await trainer.forwardBackward(data, { kind: 'cross_entropy' })
    const step = await trainer.optimStep({ learningRate, gradClipNorm, weightDecay })
    loss += result.loss * total
    weighed += total
    trained += result.tokens.data
    gradNorm = sumOfTold(gradNorm, step.gradNorm)
    steps++
  }
  return {
    loss: weighed === 0 ? 0 : loss / weighed,
    ...(gradNorm !== null && { gradNorm: gradNorm / Math.max(1, steps) }),
    steps,
    tokens: trained,
  }
}
