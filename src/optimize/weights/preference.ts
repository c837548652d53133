import type { Datum, Metrics, PreferencePair, PreferringSettings, Rng, Trainer } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { demonstrationDatum, learnable } from './datum.ts'
import { requireOption, requirePositiveInteger } from './errors.ts'
import { sumOfTold } from './sum-of-told.ts'

/** Log-probability of each side's own tokens together, given their context. */
export interface SideLogprobs {
  readonly chosen: number
  readonly rejected: number
}

/** Direct preference optimisation. */
export interface PreferenceOptions extends PreferringSettings {
  /** {@link referenceLogprobs} of the same pairs in the same order; default: measured before the first update. */
  readonly reference?: readonly SideLogprobs[]
  /** How often all pairs are used. Default 1. */
  readonly epochs?: number
  /** Deals the pairs into minibatches; without it they are dealt in their order. */
  readonly rng?: Rng
}

/** Both sides of every pair under the trainer's weights as they are now: the reference, when measured before learning. */
export async function referenceLogprobs(
  trainer: Trainer,
  pairs: readonly PreferencePair[],
): Promise<readonly SideLogprobs[]> {
  const data = pairs.flatMap((pair) => sides(pair, 1, 1))
  const logprobs = await trainer.forward(data)
  const sumOf = (index: number) => {
    const { weights = [] } = present(data[index], 'a datum')
    return present(logprobs[index], 'its log-probabilities').reduce(
      (sum, logprob, t) => sum + (weights[t] === 0 ? 0 : logprob),
      0,
    )
  }
  return pairs.map((_, i) => ({ chosen: sumOf(2 * i), rejected: sumOf(2 * i + 1) }))
}

/**
 * Direct preference optimisation (Rafailov et al. 2023), with label smoothing as in TRL (cDPO, Mitchell 2023). With
 * lp the log-probability of a side's own tokens, summed, and the margin
 *
 *     x = β·[(lp_θ(y⁺) − lp_ref(y⁺)) − (lp_θ(y⁻) − lp_ref(y⁻))]
 *     L = −(1 − ε)·log σ(x) − ε·log σ(−x), averaged over the pairs of a minibatch.
 *
 * Its gradient needs nothing but cross-entropy. From d log σ(x)/dx = σ(−x):
 * ∂L/∂x = −(1 − ε)·σ(−x) + ε·σ(x) = −(σ(−x) − ε), and ∂x/∂lp(y⁺) = β = −∂x/∂lp(y⁻). So with c = β·(σ(−x) − ε) / pairs,
 * ∇L = −c·∇lp(y⁺) + c·∇lp(y⁻): the gradient of cross-entropy where each token of y⁺ weighs c and each of y⁻ weighs −c.
 * Both log-probabilities are of the same weights: each step measures first, and then differentiates.
 *
 * Length: log-probabilities are summed and not averaged, as the loss is derived. A long answer's margin is the sum
 * over more tokens, so that where long answers are preferred the policy learns length with them: balance the pairs.
 *
 * Metrics are means over all pairs and epochs, measured before the step that uses them: `loss`, `accuracy` (the share of
 * margins above 0), `margin` (x, in units of the implicit reward), `gradNorm` (of the steps); with `steps`, `tokens` and
 * `pairs`; `dropped` counts pairs with a side without tokens of its own.
 * @throws OptimizeError for options out of range, and for a reference of another number of pairs.
 */
export async function preferenceStep(
  trainer: Trainer,
  pairs: readonly PreferencePair[],
  options: PreferenceOptions = {},
): Promise<Metrics> {
  const { beta = 0.1, labelSmoothing = 0, learningRate = 1e-4, epochs = 1, minibatches = 1, rng } = options
  const { gradClipNorm = 1, weightDecay = 0 } = options
  requireOption(beta > 0 && Number.isFinite(beta), `beta is ${beta}`, 'Make beta a number above 0')
  const smoothable = labelSmoothing >= 0 && labelSmoothing < 0.5
  requireOption(smoothable, `labelSmoothing is ${labelSmoothing}`, 'Make labelSmoothing at least 0 and below 0.5')
  requirePositiveInteger('epochs', epochs)
  requirePositiveInteger('minibatches', minibatches)
  const given = options.reference?.length ?? pairs.length
  requireOption(given === pairs.length, `reference has ${given} entries`, `Measure it on the ${pairs.length} pairs`)

  const reference = options.reference ?? (await referenceLogprobs(trainer, pairs))
  const usable = pairs
    .map((pair, i) => ({ pair, reference: present(reference[i], 'the reference of a pair') }))
    .filter(({ pair }) => learnable(pair.chosen) > 0 && learnable(pair.rejected) > 0)
  const sums = { loss: 0, accuracy: 0, margin: 0 }
  let [used, steps, tokens] = [0, 0, 0]
  let gradNorm: number | null = 0
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (const batch of deal(rng ? rng.shuffle(usable) : usable, minibatches)) {
      const now = await referenceLogprobs(
        trainer,
        batch.map(({ pair }) => pair),
      )
      const data = batch.flatMap(({ pair, reference }, i) => {
        const margin = beta * (ratio(present(now[i], 'a pair')) - ratio(reference))
        sums.loss -= (1 - labelSmoothing) * logSigmoid(margin) + labelSmoothing * logSigmoid(-margin)
        sums.accuracy += margin > 0 ? 1 : 0
        sums.margin += margin
        const weight = (beta * (Math.exp(logSigmoid(-margin)) - labelSmoothing)) / batch.length
        return sides(pair, weight, -weight)
      })
      const result = await trainer.forwardBackward(data, { kind: 'cross_entropy' })
      const step = await trainer.optimStep({ learningRate, gradClipNorm, weightDecay })
      used += batch.length
      gradNorm = sumOfTold(gradNorm, step.gradNorm)
      tokens += result.tokens.data
      steps++
    }
  }
  const mean = (sum: number) => sum / Math.max(1, used)
  return {
    loss: mean(sums.loss),
    accuracy: mean(sums.accuracy),
    margin: mean(sums.margin),
    ...(gradNorm !== null && { gradNorm: gradNorm / Math.max(1, steps) }),
    steps,
    tokens,
    pairs: usable.length,
    dropped: pairs.length - usable.length,
  }
}

/** A pair's two data, next to each other: the trainer computes their context once. */
function sides({ chosen, rejected }: PreferencePair, ofChosen: number, ofRejected: number): readonly [Datum, Datum] {
  return [demonstrationDatum(chosen, ofChosen), demonstrationDatum(rejected, ofRejected)]
}

const ratio = ({ chosen, rejected }: SideLogprobs): number => chosen - rejected

/** log σ(x) without overflow. */
const logSigmoid = (x: number): number => Math.min(x, 0) - Math.log1p(Math.exp(-Math.abs(x)))

/** At most `parts` batches of similar size, none empty. */
function deal<T>(items: readonly T[], parts: number): readonly (readonly T[])[] {
  const count = Math.min(parts, items.length)
  return Array.from({ length: count }, (_, part) => items.filter((_, i) => i % count === part))
}
