import { z } from 'zod'

/**
 * What a base model's projections are multiplied in. `int8`: their rows are rounded to 8 bits once, and what they are
 * multiplied with to 16 each time; adapters, attention, norms, embedding and head stay in float32.
 */
export const Precision = z.enum(['float32', 'int8'])
export type Precision = z.infer<typeof Precision>

/** A precision, or `auto`: `int8` where the processor's sums of products of bytes are exact, else `float32`. */
export const PrecisionChoice = z.enum(['auto', ...Precision.options])
export type PrecisionChoice = z.infer<typeof PrecisionChoice>
