import { z } from 'zod'

/** What is imitated of what people did with answers. */
export const Imitated = z.strictObject({
  /** Whole turns that people demonstrated. */
  demonstrated: z.boolean().default(true),
  /** Answers as people edited them, where the turns that led to them are sound: an edit does not say how to find it. */
  edited: z.boolean().default(true),
  /**
   * Answers that people took, as they were sampled, in sessions that earned at least this (rejection-sampling
   * fine-tuning); `null`: none.
   */
  accepted: z.number().nullable().default(0.5),
})
export type Imitated = z.infer<typeof Imitated>
