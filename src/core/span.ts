import { z } from 'zod'

const token = z.int().nonnegative()
/** Rounding of float32 logits may leave one a little above 0: as much as a sampler and a trainer may differ. */
const logprob = z.number().max(1e-4)

/** How a sampled span was drawn: what a trainer needs to know to recompute its probabilities. */
export const SamplingRecord = z.strictObject({
  temperature: z.number().nonnegative(),
  /**
   * True when top-k, top-p or a grammar cut the distribution, or a datastore was mixed in: such a span cannot enter a policy
   * gradient (invariant 2).
   */
  truncated: z.boolean(),
})
export type SamplingRecord = z.infer<typeof SamplingRecord>

/** Tokens that a policy sampled, kept exactly as sampled. The arrays have equal length. */
export const SampledSpan = z
  .strictObject({
    kind: z.literal('sampled'),
    tokens: z.array(token),
    /**
     * Log-probability under the distribution each token was drawn from; `null` when the sampler did not tell it (a served
     * model at a temperature other than 1): such a span cannot enter a policy gradient.
     */
    behaviourLogprobs: z.array(logprob).nullable(),
    /** Log-probability under the full vocabulary at temperature 1. */
    logprobs: z.array(logprob),
    sampling: SamplingRecord,
  })
  .refine(
    ({ tokens, behaviourLogprobs, logprobs }) =>
      tokens.length === logprobs.length && tokens.length === (behaviourLogprobs ?? tokens).length,
    { message: 'tokens, behaviourLogprobs and logprobs must have equal length' },
  )
export type SampledSpan = z.infer<typeof SampledSpan>

/** Tokens rendered from text. They enter supervised losses only, never a policy gradient. */
export const EncodedSpan = z.strictObject({
  kind: z.literal('encoded'),
  tokens: z.array(token),
  /** Set where they stand there only because something was recalled: without them the rest is what it would have been. */
  recalled: z.literal(true).exactOptional(),
  /** Set where weights were made to say them: they are theirs to imitate, and nothing sampled them. */
  forced: z.literal(true).exactOptional(),
})
export type EncodedSpan = z.infer<typeof EncodedSpan>

/** Tokens of one origin. */
export const Span = z.union([SampledSpan, EncodedSpan])
export type Span = z.infer<typeof Span>

/** Whether weights were made to say these tokens. */
export const isForced = (span: Span): boolean => span.kind === 'encoded' && span.forced === true

/** Whether weights said these tokens: they sampled them, or were made to say them. */
export const wasSaid = (span: Span): boolean => span.kind === 'sampled' || isForced(span)
