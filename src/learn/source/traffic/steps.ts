import { z } from 'zod'

/**
 * How what people showed is imitated. The step is short: most of it is what the weights already say, where the gradient is
 * nearly nothing, and Adam's first steps are as long as the rate whatever the gradient is.
 */
export const ImitationSteps = z.strictObject({
  learningRate: z.number().positive().default(1e-4),
  batchSize: z.int().positive().default(8),
})

/** How what people preferred is learned: direct preference optimisation. */
export const PreferenceSteps = z.strictObject({
  learningRate: z.number().positive().default(5e-5),
  beta: z.number().positive().default(0.1),
  labelSmoothing: z.number().min(0).max(0.49).default(0),
  minibatches: z.int().positive().default(4),
})
