import type { Datum, Demonstration, PolicySample } from '../../core/index.ts'

/**
 * Shifts a sequence by one: position t reads token t and is trained on token t+1, so what belongs to a token moves to
 * the position before it. The first token follows nothing: it is never a target.
 */
export const shifted = <T>(perToken: readonly T[]): readonly T[] => perToken.slice(1)

/** A demonstration that counts more or less than others: an edited answer, one of an earlier task. */
export interface WeightedDemonstration extends Demonstration {
  /** Of each of its acts; ≥ 0. Default 1. */
  readonly weight?: number
}

/** Cross-entropy on the demonstrated acts, each weighing `weight`, or rewarded for being unlikely where it is below 0. */
export function demonstrationDatum({ tokens, learn }: Demonstration, weight: number): Datum {
  return {
    input: tokens.slice(0, -1),
    target: shifted(tokens),
    weights: shifted(learn).map((acted) => (acted ? weight : 0)),
  }
}

/** A policy loss on the sampled tokens, their advantages scaled by `weight`. */
export function policyDatum(sample: PolicySample, weight: number): Datum {
  return {
    input: sample.tokens.slice(0, -1),
    target: shifted(sample.tokens),
    logprobs: shifted(sample.behaviourLogprobs),
    advantages: shifted(sample.advantages).map((advantage) => advantage * weight),
  }
}

/** How many of the acts can be learned: the first token follows nothing. */
export const learnable = ({ learn }: Demonstration): number => count(shifted(learn))

/** How many of the flags are set. */
export function count(flags: readonly boolean[]): number {
  return flags.reduce((total, flag) => total + (flag ? 1 : 0), 0)
}
