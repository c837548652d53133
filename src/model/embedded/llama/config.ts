import { z } from 'zod'

const count = z.int().positive()

/**
 * The shape of a Llama-family decoder: RMSNorm, rotary positions, grouped-query attention, SwiGLU, no biases.
 * `heads` is a multiple of `kvHeads`; `headDim` is even and need not be `hiddenSize / heads`.
 */
export const LlamaConfig = z
  .strictObject({
    vocabSize: count,
    hiddenSize: count,
    /** Width of the SwiGLU layer. */
    intermediateSize: count,
    layers: count,
    /** Query heads. */
    heads: count,
    /** Key/value heads; each serves `heads / kvHeads` query heads. */
    kvHeads: count,
    headDim: count,
    /** Base of the rotary frequencies: frequency i is θ^(−2i / headDim). */
    ropeTheta: z.number().positive(),
    rmsNormEps: z.number().nonnegative(),
    /** Longest sequence, in positions. */
    maxPositions: count,
    /** Whether the output head is the embedding matrix; if not there is an `lm_head.weight`. */
    tiedHead: z.boolean(),
  })
  .refine(({ heads, kvHeads }) => heads % kvHeads === 0, { message: 'heads must be a multiple of kvHeads' })
  .refine(({ headDim }) => headDim % 2 === 0, { message: 'headDim must be even: rotary positions turn pairs' })

export type LlamaConfig = z.infer<typeof LlamaConfig>

/**
 * A model's parameters by Hugging Face name (see `llama/weights.ts` for every name and shape). Matrices are
 * `[out, in]`, row-major, float32: a projection computes x·Wᵀ. Query and key rows are in the Hugging Face "half-split"
 * rotary order: dimension i turns with dimension i + headDim / 2.
 */
export interface ModelWeights {
  readonly config: LlamaConfig
  readonly tensors: ReadonlyMap<string, Float32Array>
}
