import { z } from 'zod'

/** Logits of any size that weights have stay finite in float32 when they are divided by it. */
const least = 1e-20
/** Above it the float32 of the graph loses the log-probability at temperature 1. */
const most = 1e4

/** A softmax temperature that the graph computes with: 0, which is greedy, or one that float32 can divide logits by. */
export const SamplingTemperature = z
  .number()
  .refine((value) => value === 0 || (value >= least && value <= most), `it must be 0, or from ${least} to ${most}`)
