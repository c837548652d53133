/** The mean KL divergence a token, of the policy from the one that sampled, that the steps of an update should come to. */
const wantedKl = 2e-3
/** Further off than this factor, the step changes. */
const band = 2
const change = 1.5

/** What scales the steps of a run. */
export interface Stride {
  /** The factor on the learning rate; at most `most`. */
  readonly scale: number
  /** Halved by each recovery. */
  readonly most: number
}

/**
 * Adapts the step to how far the last update moved the policy: smaller where it went too far, larger where it hardly moved
 * (adaptive KL control of the learning rate: Schulman et al. 2017, section 4). `kl` is `null` where nothing was measured.
 */
export function adapted({ scale, most }: Stride, kl: number | null): Stride {
  if (kl === null) return { scale, most }
  const factor = kl > wantedKl * band ? 1 / change : kl < wantedKl / band ? change : 1
  return { scale: Math.min(most, scale * factor), most }
}

/** After a collapse: half of every step from there, for good. */
export const shortened = ({ scale, most }: Stride): Stride => ({ scale: Math.min(scale, most) / 2, most: most / 2 })

/**
 * The factor on the learning rate of an update that learns from so many groups: the square root of their share of what is
 * wanted, at most 1. The gradient's noise falls with the root of the groups it is averaged over, and AdamW takes steps of
 * one size however noisy the gradient is.
 */
export function paceOf(informative: number, wanted: number): number {
  return Math.min(1, Math.sqrt(informative / Math.max(1, wanted)))
}

/** What slows the steps of a policy that succeeds: the least factor, and how fast it falls with what still fails. */
export interface Settling {
  readonly least: number
  readonly slope: number
}

/**
 * The factor on the learning rate where so much succeeds: full steps while little does, small ones later, whose noise would
 * undo what is learned. A rate that falls with time instead would end the learning of a job that takes longer.
 */
export const settledPace = (success: number, { least, slope }: Settling): number =>
  Math.max(least, Math.min(1, slope * (1 - success)))
