import type { Loss, Metrics, ParameterName, PolicySample, Rng, VersionId, WeightsOptimizer } from '../../core/index.ts'
import { count, policyDatum } from './datum.ts'
import { OptimizeError, requireOption, requirePositiveInteger } from './errors.ts'
import { Ratios } from './ratios.ts'
import { sumOfTold } from './sum-of-told.ts'

/** Policy gradient on credited samples. */
export interface PolicyGradientOptions {
  /** Default `ppo`. */
  readonly loss?: 'importance_sampling' | 'ppo' | 'cispo'
  /**
   * Bounds on the ratio itself. Default [0.8, 1.2] for `ppo`, [0, 3] for `cispo`. Samples of earlier generations want
   * `cispo` with `clipHigh: 2`, which is truncated importance sampling.
   */
  readonly clipLow?: number
  readonly clipHigh?: number
  readonly learningRate?: number
  /** Updates that the learning rate takes to reach its value, linearly. */
  readonly warmupUpdates?: number
  /** The rate falls linearly and would reach 0 at this update; it stays at a twentieth. Omitted = it does not fall. */
  readonly decayUpdates?: number
  /** The batch is split into this many optimizer steps; each sample is used once. */
  readonly minibatches?: number
  readonly beta1?: number
  readonly beta2?: number
  readonly gradClipNorm?: number
  readonly weightDecay?: number
  /**
   * Trust region: where the policy has moved this far from the one that sampled (mean k3 estimate of the KL divergence a
   * token, {@link Ratios}), the steps that are left shrink in proportion. Default 0.05.
   */
  readonly klBound?: number
}

/**
 * One update of multi-turn policy gradient: every sampled token of an episode carries its decision's advantage, and
 * the loss is averaged over the tokens of a minibatch (DAPO, Yu et al. 2025), so that long episodes do not count less
 * per token. Group members stay together: the trainer computes what they share once.
 *
 * Refuses samples whose behaviour probabilities a trainer cannot reproduce (invariant 2), and a batch in which several
 * Versions of something else acted: an advantage would be of that, too (invariant 4). The metrics tell how far the
 * policy had moved from the one that sampled; see {@link Ratios}.
 * @throws OptimizeError for such samples and batches, for `minibatches` that is not a whole number ≥ 1, and for clip bounds that are no
 * interval of ratios.
 */
export function policyGradient(
  options: PolicyGradientOptions = {},
): WeightsOptimizer & { readonly options: PolicyGradientOptions } {
  const { learningRate = 3e-4, minibatches = 1 } = options
  const { beta1 = 0.9, beta2 = 0.95, gradClipNorm = 1, weightDecay = 0, klBound = 0.05 } = options
  requirePositiveInteger('minibatches', minibatches)
  requireInterval(lossOf(options, 1))

  return {
    name: 'policy-gradient',
    kind: 'weights',
    losses: [lossOf(options, 1).kind],
    options,
    async step({ gradients, trainer, update, rng, pace = 1 }) {
      const samples = gradients.flatMap(({ deposits }) => deposits)
      const temperature = reproducibleTemperature(samples)
      for (const { parameter, deposits } of gradients) refuseMixedContext(parameter, deposits)
      const rate = learningRate * scheduled(update, options) * pace
      const adam = { beta1, beta2, gradClipNorm, weightDecay }
      const totals: Totals = { loss: 0, gradNorm: 0, steps: 0, tokens: 0, computed: 0 }
      if (temperature === null) return { metrics: metricsOf(totals, 0) }
      const loss = lossOf(options, temperature)
      const ratios = new Ratios()
      let last = rate
      for (const batch of split(samples, minibatches, rng)) {
        const tokens = batch.reduce((sum, { sampled }) => sum + count(sampled), 0)
        if (tokens === 0) continue
        const data = batch.map((sample) => policyDatum(sample, 1 / tokens))
        const result = await trainer.forwardBackward(data, loss)
        const moved = ratios.add(data, result.logprobs, loss)
        last = rate * Math.min(1, klBound / Math.max(moved, Number.MIN_VALUE))
        const step = await trainer.optimStep({ ...adam, learningRate: last })
        totals.loss += result.loss
        totals.gradNorm = sumOfTold(totals.gradNorm, step.gradNorm)
        totals.steps++
        totals.tokens += result.tokens.data
        totals.computed = sumOfTold(totals.computed, result.tokens.computed)
      }
      return { metrics: { ...metricsOf(totals, samples.length), ...ratios.metrics(), rate: last } }
    },
  }
}

/** The share of the learning rate that an update gets. */
function scheduled(update: number, { warmupUpdates = 0, decayUpdates }: PolicyGradientOptions): number {
  const warm = Math.min(1, (update + 1) / Math.max(1, warmupUpdates))
  return decayUpdates === undefined ? warm : warm * Math.max(0.05, 1 - update / decayUpdates)
}

/** PPO keeps the ratio near 1 on both sides; CISPO only caps its weight (MiniMax-M1, 2025: no lower bound). */
const defaultClip = { ppo: [0.8, 1.2], cispo: [0, 3] } as const

function lossOf({ loss = 'ppo', ...clip }: PolicyGradientOptions, temperature: number): Loss {
  if (loss === 'importance_sampling') return { kind: loss, temperature }
  const [clipLow, clipHigh] = defaultClip[loss]
  return { kind: loss, clipLow: clip.clipLow ?? clipLow, clipHigh: clip.clipHigh ?? clipHigh, temperature }
}

/** Bounds that are crossed would train on a formula that nobody meant; a default can cross one that was given. */
function requireInterval(loss: Loss): void {
  if (loss.kind !== 'ppo' && loss.kind !== 'cispo') return
  const { clipLow = 0, clipHigh = 0 } = loss
  const valid = clipLow >= 0 && clipLow <= clipHigh
  requireOption(
    valid,
    `The clip bounds are ${clipLow} to ${clipHigh}`,
    'Make them ratios, the lower first: 0.8 and 1.2',
  )
}

/** The one temperature that all samples were drawn at; `null` without samples. */
function reproducibleTemperature(samples: readonly PolicySample[]): number | null {
  const [first] = samples
  if (!first) return null
  for (const { temperature, truncated } of samples) {
    if (truncated || temperature === 0) {
      throw new OptimizeError({
        code: 'optimize/truncated-samples',
        message: `Policy gradient got samples drawn ${truncated ? 'with top-k or top-p' : 'greedily (temperature 0)'}.`,
        hint: 'Sample rollouts for learning at a temperature above 0, without top-k and top-p.',
      })
    }
    if (temperature !== first.temperature) {
      throw new OptimizeError({
        code: 'optimize/mixed-temperatures',
        message: `One batch holds samples drawn at temperatures ${first.temperature} and ${temperature}.`,
        hint: 'Draw all rollouts of a batch at one temperature.',
      })
    }
  }
  return first.temperature
}

/** Ratios correct for what the weights themselves were; for another prompt, or other memories, nothing does. */
function refuseMixedContext(own: ParameterName, samples: readonly PolicySample[]): void {
  const beside = new Map<ParameterName, VersionId>()
  for (const [name, versions] of samples.flatMap(({ acted = {} }) => Object.entries(acted))) {
    if (name === own) continue
    for (const version of versions) {
      const known = beside.get(name) ?? version
      if (known === version) beside.set(name, version)
      else {
        throw new OptimizeError({
          code: 'optimize/mixed-context',
          message: `Several Versions of "${name}" acted in one batch: ${known} and ${version}.`,
          hint: 'Split the batch by the Versions of what acted beside the weights.',
        })
      }
    }
  }
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
  gradNorm: number | null
  steps: number
  tokens: number
  computed: number | null
}

const metricsOf = ({ loss, gradNorm, steps, tokens, computed }: Totals, samples: number): Metrics => ({
  samples,
  steps,
  loss: loss / Math.max(1, steps),
  ...(gradNorm !== null && { gradNorm: gradNorm / Math.max(1, steps) }),
  tokens,
  ...(computed !== null && { computed }),
})
