import type { Metrics, PolicySample, Rng, Trainer, WeightsOptimizer } from '../../core/index.ts'
import { type ActedEpisode, attachHead, auxiliaryOf, usedAuxiliary } from './auxiliary.ts'
import { count, policyDatum } from './datum.ts'
import { refuseMixedContext, reproducibleTemperature } from './fit-samples.ts'
import { trainersLoss } from './losses/index.ts'
import { normalised } from './normalise.ts'
import { lossOf, type PolicyGradientOptions, requirePolicyOptions } from './policy-options.ts'
import { type Passed, policyPass, type WeighedSample } from './policy-pass.ts'
import { Ratios } from './ratios.ts'
import { referenceOf, withKlPenalty } from './reference.ts'
import { sumOfTold } from './sum-of-told.ts'
import { withTruncatedWeights } from './truncated.ts'
import { samplesOfTurns } from './turns.ts'

/**
 * One update of multi-turn policy gradient: every sampled token of an episode carries its decision's advantage. By default the
 * loss is averaged over the tokens of a minibatch (DAPO, Yu et al. 2025), so that long episodes do not count less per token.
 * Group members stay together: the trainer computes what they share once. What a trainer has no loss for (GSPO, dual clip,
 * KL in the loss) takes one pass without a gradient more, and is the same on all of them.
 *
 * Refuses samples whose behaviour probabilities a trainer cannot reproduce (invariant 2), and a batch in which several
 * Versions of something else acted: an advantage would be of that, too (invariant 4). The metrics tell how far the
 * policy had moved from the one that sampled; see {@link Ratios}. Samples whose hint was taken away are another policy's, and
 * have their own bound: neither these metrics nor the trust region speak of them. With `auxiliary` the metric `auxiliaryLoss` is
 * the mean squared error of the auxiliary tasks, which `loss` does not hold. Where all advantages of a minibatch are 0 no step is
 * taken, and `silentSteps` counts it.
 * @throws OptimizeError for such samples and batches, and for options that contradict each other or are out of range.
 */
export function policyGradient(
  options: PolicyGradientOptions = {},
): WeightsOptimizer & { readonly options: PolicyGradientOptions } {
  const { learningRate = 3e-4, minibatches = 1, turns = 'all' } = options
  const { beta1 = 0.9, beta2 = 0.95, gradClipNorm = 1, weightDecay = 0, klBound = 0.05 } = options
  const normalise = options.normalise ?? (options.loss === 'gspo' ? 'sequence' : 'token')
  requirePolicyOptions(options)
  const auxiliary = usedAuxiliary(options.auxiliary)
  const known = options.kl?.in === 'loss' ? null : trainersLoss(lossOf(options), 1)

  return {
    name: 'policy-gradient',
    kind: 'weights',
    losses: [known?.kind ?? 'importance_sampling'],
    auxiliary: auxiliary !== null,
    options,
    learned: (samples) => samplesOfTurns(samples, turns),
    async step({ gradients, trainer, update, rng, pace = 1 }) {
      const given = gradients.flatMap(({ deposits }) => deposits)
      const temperature = reproducibleTemperature(given)
      for (const { parameter, deposits } of gradients) refuseMixedContext(parameter, deposits)
      const totals: Totals = {
        loss: 0,
        auxiliaryLoss: 0,
        gradNorm: 0,
        steps: 0,
        silentSteps: 0,
        tokens: 0,
        computed: 0,
      }
      if (temperature === null) return { metrics: metricsOf(totals, 0) }
      if (auxiliary) await attachHead(trainer, auxiliary)
      const prepared = await prepare(trainer, samplesOfTurns(given, turns), temperature, options)
      const { samples } = prepared
      // Of the whole sample: what was acted and is not learned is no observation.
      const predicted = new Map(
        samples.map((sample, i) => [sample, auxiliary?.targets(actedIn(given[i] ?? sample)) ?? null] as const),
      )
      const rate = learningRate * scheduled(update, options) * pace
      const adam = { beta1, beta2, gradClipNorm, weightDecay }
      const [ratios, strippedRatios] = [new Ratios(), new Ratios()]
      let [last, referenceKl] = [rate, 0]
      for (const batch of split(samples, minibatches, rng)) {
        const sampled = batch.reduce((sum, one) => sum + count(one.sampled), 0)
        if (sampled === 0) continue
        const weights = normalised(batch, normalise)
        const weighed = batch.map((sample, i): WeighedSample => {
          const reference = prepared.reference?.get(sample) ?? null
          const [weight, targets] = [weights[i] ?? 0, predicted.get(sample)]
          if (!auxiliary || !targets) return { sample, weight, reference }
          return {
            sample,
            weight,
            reference,
            auxiliary: auxiliaryOf(targets, sample.sampled, weight * auxiliary.weight),
          }
        })
        if (weighed.every(isSilent)) {
          totals.silentSteps++
          continue
        }
        let moved = 0
        for (const stripped of [false, true]) {
          const part = weighed.filter(({ sample }) => (sample.stripped ?? false) === stripped)
          if (part.length === 0) continue
          const loss = lossOf(options, stripped)
          const klWeight = options.kl?.weight ?? 0
          const passed: Passed = await policyPass(trainer, { samples: part, loss, temperature, klWeight })
          const far = (stripped ? strippedRatios : ratios).add(passed.data, passed.logprobs, loss)
          if (!stripped) moved = far
          totals.loss += passed.loss
          totals.auxiliaryLoss += passed.auxiliaryLoss / (auxiliary?.weight ?? 1)
          totals.tokens += passed.tokens.data
          totals.computed = sumOfTold(totals.computed, passed.tokens.computed)
          referenceKl += passed.referenceKl
        }
        last = rate * Math.min(1, klBound / Math.max(moved, Number.MIN_VALUE))
        const step = await trainer.optimStep({ ...adam, learningRate: last })
        totals.gradNorm = sumOfTold(totals.gradNorm, step.gradNorm)
        totals.steps++
      }
      const tokens = samples.reduce((sum, { sampled }) => sum + count(sampled), 0)
      const { clippedShare: strippedClippedShare } = strippedRatios.metrics()
      return {
        metrics: {
          ...metricsOf(totals, samples.length),
          ...ratios.metrics(),
          ...prepared.metrics,
          ...(auxiliary && { auxiliaryLoss: totals.auxiliaryLoss / Math.max(1, totals.steps) }),
          ...(options.kl?.in === 'loss' && { referenceKl: referenceKl / Math.max(1, tokens) }),
          ...(strippedClippedShare !== undefined && { strippedClippedShare }),
          rate: last,
        },
      }
    },
  }
}

/** No gradient comes of it. A step would still move the weights, by the momentum of steps before. */
const isSilent = ({ sample: { sampled, advantages }, reference, auxiliary }: WeighedSample): boolean =>
  reference === null && !auxiliary && advantages.every((advantage, t) => advantage === 0 || !sampled[t])

/** A sample as auxiliary tasks read it. */
const actedIn = ({ tokens, sampled, earned }: PolicySample): ActedEpisode => ({
  tokens,
  acted: sampled,
  ...(earned !== undefined && { earned }),
})

/** Samples as the loss takes them, and what a reference says of each. */
interface Prepared {
  readonly samples: readonly PolicySample[]
  readonly reference: ReadonlyMap<PolicySample, readonly number[]> | null
  readonly metrics: Metrics
}

/** Measures what is measured before the first step: the reference, and the trainer's own weights where samples are others'. */
async function prepare(
  trainer: Trainer,
  given: readonly PolicySample[],
  temperature: number,
  { kl, mismatchCap }: PolicyGradientOptions,
): Promise<Prepared> {
  let samples = given
  let metrics: Metrics = {}
  const near = kl && (await referenceOf(kl.reference, samples, temperature))
  if (near && kl.in === 'reward') {
    const penalised = withKlPenalty(samples, near, kl)
    samples = penalised.samples
    metrics = penalised.metrics
  }
  if (mismatchCap !== undefined) {
    const data = samples.map((sample) => policyDatum(sample, 1))
    const corrected = withTruncatedWeights(samples, await trainer.forward(data, temperature), mismatchCap)
    samples = corrected.samples
    metrics = { ...metrics, ...corrected.metrics }
  }
  const reference = kl?.in === 'loss' && near ? new Map(samples.map((one, i) => [one, near[i] ?? []])) : null
  return { samples, reference, metrics }
}

/** The share of the learning rate that an update gets. */
function scheduled(update: number, { warmupUpdates = 0, decayUpdates }: PolicyGradientOptions): number {
  const warm = Math.min(1, (update + 1) / Math.max(1, warmupUpdates))
  return decayUpdates === undefined ? warm : warm * Math.max(0.05, 1 - update / decayUpdates)
}

/** Whole groups, shuffled, dealt into at most `parts` batches of similar size. */
function split(samples: readonly PolicySample[], parts: number, rng: Rng): readonly (readonly PolicySample[])[] {
  const groups = new Map<string, PolicySample[]>()
  for (const sample of samples) {
    const group = groups.get(sample.group)
    if (group) group.push(sample)
    else groups.set(sample.group, [sample])
  }
  const batches: PolicySample[][] = Array.from({ length: Math.min(parts, groups.size) }, () => [])
  rng.shuffle([...groups.values()]).forEach((group, i) => batches[i % batches.length]?.push(...group))
  return batches
}

interface Totals {
  loss: number
  /** Mean squared error of the auxiliary tasks, unweighed. */
  auxiliaryLoss: number
  gradNorm: number | null
  steps: number
  /** Steps that were not taken, since nothing of their batch had a gradient. */
  silentSteps: number
  tokens: number
  computed: number | null
}

const metricsOf = ({ loss, gradNorm, steps, silentSteps, tokens, computed }: Totals, samples: number): Metrics => ({
  samples,
  steps,
  loss: loss / Math.max(1, steps),
  ...(silentSteps > 0 && { silentSteps }),
  ...(gradNorm !== null && { gradNorm: gradNorm / Math.max(1, steps) }),
  tokens,
  ...(computed !== null && { computed }),
})
