import type { AuxiliaryTasks } from './auxiliary.ts'
import { requireOption, requirePositiveInteger } from './errors.ts'
import type { PolicyLoss } from './losses/index.ts'
import { type Normalisation, requireNormalisation } from './normalise.ts'
import { type KlToReference, requireKl } from './reference.ts'
import type { Turns } from './turns.ts'

/** Policy gradient on credited samples. */
export interface PolicyGradientOptions {
  /** Default `ppo`. */
  readonly loss?: PolicyLoss['kind']
  /**
   * Bounds on the ratio itself. Default [0.8, 1.2] for `ppo`, [0, 3] for `cispo`, [0.9997, 1.0004] for `gspo`. Samples of earlier
   * generations want `cispo` with `clipHigh: 2`, which is truncated importance sampling, or a `mismatchCap`.
   */
  readonly clipLow?: number
  readonly clipHigh?: number
  /** `ppo` only: bounds what a token with an advantage below 0 counts, above `clipHigh`; the paper has 3. Default: nothing does. */
  readonly dualClip?: number
  /**
   * The upper bound for samples whose hint was taken away ({@link stripHint}), of any loss with bounds. Default 1.6, which is
   * AgentEvolver's 0.6 above 1.
   */
  readonly strippedClipHigh?: number
  /** What the loss is divided by. Default `token`, and `sequence` for `gspo`, as its paper has it. */
  readonly normalise?: Normalisation
  /** Truncates the weights of samples of another policy than the trainer's, at least 1; 2 is usual. Default: they have none. */
  readonly mismatchCap?: number
  /** Keeps the policy near a reference. Default: nothing does but the clip. */
  readonly kl?: KlToReference
  /** Default `all`. */
  readonly turns?: Turns
  /** Auxiliary tasks that are learned beside the loss, such as `protoValues()`. Default: none. */
  readonly auxiliary?: AuxiliaryTasks
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
   * token), the steps that are left shrink in proportion. Default 0.05.
   */
  readonly klBound?: number
}

/**
 * PPO keeps the ratio near 1 on both sides; CISPO only caps its weight (MiniMax-M1, 2025: no lower bound); a sample's ratio moves
 * less than its tokens' (GSPO, Zheng et al. 2025, section 5.1).
 */
const defaultClip = { ppo: [0.8, 1.2], cispo: [0, 3], gspo: [0.9997, 1.0004] } as const
const defaultStrippedHigh = 1.6

/** The loss that options name, for samples as they were drawn or for those whose hint was taken away. */
export function lossOf(options: PolicyGradientOptions, stripped = false): PolicyLoss {
  const { loss: kind = 'ppo', dualClip } = options
  if (kind === 'importance_sampling') return { kind }
  const clipLow = options.clipLow ?? defaultClip[kind][0]
  const clipHigh = stripped
    ? (options.strippedClipHigh ?? defaultStrippedHigh)
    : (options.clipHigh ?? defaultClip[kind][1])
  if (kind === 'ppo' && dualClip !== undefined) return { kind, clipLow, clipHigh, dualClip }
  return { kind, clipLow, clipHigh }
}

/** @throws OptimizeError for options that no loss has, contradict each other or lie out of range. */
export function requirePolicyOptions(options: PolicyGradientOptions): void {
  const { loss = 'ppo', minibatches = 1, normalise = 'token', dualClip, mismatchCap, strippedClipHigh, kl } = options
  requirePositiveInteger('minibatches', minibatches)
  requireNormalisation(normalise)
  requireInterval(lossOf(options))
  const only = dualClip === undefined || loss === 'ppo'
  requireOption(only, `The loss ${loss} has a dualClip`, 'Leave it out, or take the loss ppo')
  const unbounded = loss === 'importance_sampling' && strippedClipHigh !== undefined
  requireOption(!unbounded, `The loss ${loss} has a strippedClipHigh`, 'Leave it out, or take a loss with bounds')
  if (strippedClipHigh !== undefined) requireInterval(lossOf(options, true))
  const capped = mismatchCap === undefined || (mismatchCap >= 1 && Number.isFinite(mismatchCap))
  requireOption(capped, `mismatchCap is ${mismatchCap}`, 'Make it at least 1; 2 is usual')
  if (kl) requireKl(kl)
}

/** Bounds that are crossed would train on a formula that nobody meant; a default can cross one that was given. */
function requireInterval(loss: PolicyLoss): void {
  if (loss.kind === 'importance_sampling') return
  const { clipLow, clipHigh } = loss
  requireOption(
    clipLow >= 0 && clipLow <= clipHigh,
    `The clip bounds are ${clipLow} to ${clipHigh}`,
    'Make them ratios, the lower first: 0.8 and 1.2',
  )
  const dualClip = loss.kind === 'ppo' ? loss.dualClip : undefined
  const above = dualClip === undefined || dualClip > clipHigh
  requireOption(above, `dualClip is ${dualClip} and clipHigh ${clipHigh}`, 'Make dualClip the larger: 3')
}
