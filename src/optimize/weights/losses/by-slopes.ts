import type { Datum, ForwardBackwardResult, Trainer } from '../../../core/index.ts'

/**
 * Adds the gradient of any loss of the log-probabilities to what a trainer has accumulated, whichever losses it knows. Where
 * g_t = ∂L/∂lp_t at the log-probabilities as they are, Σ sg[g_t]·lp_t has the gradient of L; and importance sampling from the
 * policy itself, −ρ·A at ρ = 1, has that gradient with A = −g. It takes one pass without a gradient more than a loss that the
 * trainer knows: {@link Trainer.forward} measures what the slopes are made of.
 * @param logprobs of the targets, as measured by `forward` since the last step.
 */
export function passBySlopes(
  trainer: Trainer,
  { data, logprobs, slopes, temperature }: SlopedPass,
): Promise<ForwardBackwardResult> {
  const given = data.map(({ input, target, auxiliary }, i) => ({
    input,
    target,
    ...(auxiliary && { auxiliary }),
    logprobs: logprobs[i] ?? [],
    advantages: (slopes[i] ?? []).map((slope) => (slope === 0 ? 0 : -slope)),
  }))
  return trainer.forwardBackward(given, { kind: 'importance_sampling', temperature })
}

/** One entry a datum. */
export interface SlopedPass {
  readonly data: readonly Pick<Datum, 'input' | 'target' | 'auxiliary'>[]
  readonly logprobs: readonly (readonly number[])[]
  readonly slopes: readonly (readonly number[])[]
  /** That the log-probabilities were measured at. */
  readonly temperature: number
}
