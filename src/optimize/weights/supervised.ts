import type { Datum, ImitationSettings, Metrics, Rng, Trainer } from '../../core/index.ts'
import { attachHead, type AuxiliaryTasks, auxiliaryOf, usedAuxiliary } from './auxiliary.ts'
import { demonstrationDatum, learnable, type WeightedDemonstration } from './datum.ts'
import { requireOption, requirePositiveInteger } from './errors.ts'
import { sumOfTold } from './sum-of-told.ts'

/** Supervised fine-tuning on demonstrations: one pass is every demonstration once, in a fresh order. */
export type SupervisedOptions = ImitationSettings

/** How one pass goes, and the auxiliary tasks that are learned beside its loss. */
export interface SupervisedPassOptions extends SupervisedOptions {
  /** Default: none. */
  readonly auxiliary?: AuxiliaryTasks
}

/** Of a step where nothing else is said. */
export const supervisedRate = 1e-3

/**
 * One pass of supervised fine-tuning: minimise the weighted mean of −log π(act | context) over the acts of each batch.
 * Observations are context: they carry no loss. Of the metrics, `loss` is the weighted mean over the acts, and `tokens`
 * counts all tokens of the data. With `auxiliary`, `auxiliaryLoss` is their mean squared error.
 * @throws OptimizeError for a `batchSize` that is not a whole number ≥ 1, or a weight that is negative or not finite.
 */
export async function supervisedPass(
  trainer: Trainer,
  demonstrations: readonly WeightedDemonstration[],
  rng: Rng,
  { auxiliary: tasks, ...settings }: SupervisedPassOptions = {},
): Promise<Metrics> {
  const { learningRate = supervisedRate, batchSize = 16, gradClipNorm = 1, weightDecay = 0 } = settings
  requirePositiveInteger('batchSize', batchSize)
  const auxiliary = usedAuxiliary(tasks)
  if (auxiliary) await attachHead(trainer, auxiliary)
  for (const { weight = 1 } of demonstrations) {
    requireOption(weight >= 0 && Number.isFinite(weight), `A demonstration weighs ${weight}`, 'Make it 0 or more')
  }
  const order = rng.shuffle(demonstrations)
  let [loss, auxiliaryLoss, weighed, trained, steps] = [0, 0, 0, 0, 0]
  let gradNorm: number | null = 0
  for (let start = 0; start < order.length; start += batchSize) {
    const batch = order.slice(start, start + batchSize)
    const total = batch.reduce((sum, one) => sum + (one.weight ?? 1) * learnable(one), 0)
    if (total === 0) continue
    const data = batch.map((one) => datumOf(one, (one.weight ?? 1) / total, auxiliary))
    const result = await trainer.forwardBackward(data, { kind: 'cross_entropy' })
    const step = await trainer.optimStep({ learningRate, gradClipNorm, weightDecay })
    loss += result.loss * total
    auxiliaryLoss += ((result.auxiliaryLoss ?? 0) * total) / (auxiliary?.weight ?? 1)
    weighed += total
    trained += result.tokens.data
    gradNorm = sumOfTold(gradNorm, step.gradNorm)
    steps++
  }
  return {
    loss: weighed === 0 ? 0 : loss / weighed,
    ...(auxiliary && { auxiliaryLoss: weighed === 0 ? 0 : auxiliaryLoss / weighed }),
    ...(gradNorm !== null && { gradNorm: gradNorm / Math.max(1, steps) }),
    steps,
    tokens: trained,
  }
}

function datumOf(one: WeightedDemonstration, weight: number, tasks: AuxiliaryTasks | null): Datum {
  const datum = demonstrationDatum(one, weight)
  const targets = tasks?.targets({ tokens: one.tokens, acted: one.learn })
  return tasks && targets ? { ...datum, auxiliary: auxiliaryOf(targets, one.learn, weight * tasks.weight) } : datum
}
