import { z } from 'zod'
import { projections } from './projections.ts'

const count = z.int().positive()

/** How the rotary frequencies are stretched for contexts longer than the ones of pre-training. */
export const RopeScaling = z.discriminatedUnion('type', [
  /** Every frequency divided by `factor` (Chen et al. 2023). */
  z.strictObject({ type: z.literal('linear'), factor: z.number().positive() }),
  /**
   * Llama 3.1: frequencies that turn less than `lowFrequencyFactor` times within `originalMaxPositions` are divided by
   * `factor`, those that turn more than `highFrequencyFactor` times stay, and those between are blended.
   */
  z
    .strictObject({
      type: z.literal('llama3'),
      factor: z.number().positive(),
      lowFrequencyFactor: z.number().positive(),
      highFrequencyFactor: z.number().positive(),
      originalMaxPositions: count,
    })
    .refine(({ lowFrequencyFactor: low, highFrequencyFactor: high }) => low < high, {
      message: 'lowFrequencyFactor must be below highFrequencyFactor',
    }),
])
export type RopeScaling = z.infer<typeof RopeScaling>

/** The rotary positions of a layer: frequency i is θ^(−2i / headDim), scaled where there is a `scaling`. */
export const Rope = z.strictObject({ theta: z.number().positive(), scaling: RopeScaling.exactOptional() })
export type Rope = z.infer<typeof Rope>

/** The layers whose tokens see only the last ones before them. */
export const SlidingLayers = z.strictObject({
  /** How many tokens such a layer sees, the token itself included. */
  window: count,
  /** Numbers of the layers, from 0, ascending. */
  layers: z.array(z.int().nonnegative()).min(1).readonly(),
  /** Their rotary positions; absent where they have those of all other layers. */
  rope: Rope.exactOptional(),
})
export type SlidingLayers = z.infer<typeof SlidingLayers>

/** What gates the MLP: x · σ(x), or the tanh approximation of GELU. */
export const Activation = z.enum(['silu', 'gelu-tanh'])
export type Activation = z.infer<typeof Activation>

/**
 * The shape of a decoder: RMSNorm, rotary positions, grouped-query attention, a gated MLP. The first fields are those of
 * every model, and alone they are a Llama; each of the others says how an architecture departs from it, and is absent
 * where it does not. Both graphs, sampling and training, are built from this description alone.
 * `heads` is a multiple of `kvHeads`; `headDim` is even and need not be `hiddenSize / heads`.
 */
export const TransformerConfig = z
  .strictObject({
    vocabSize: count,
    hiddenSize: count,
    /** Width of the MLP. */
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

    /** How the frequencies of `ropeTheta` are stretched. Absent: not at all. */
    ropeScaling: RopeScaling.exactOptional(),
    /** Projections that add a bias. Absent: none. */
    biases: z.array(z.enum(projections)).min(1).readonly().exactOptional(),
    /** Whether queries and keys pass an RMSNorm a head before they are turned. Absent: no. */
    qkNorm: z.literal(true).exactOptional(),
    /** Whether what attention and MLP give passes an RMSNorm before it is added to the stream. Absent: no. */
    postNorms: z.literal(true).exactOptional(),
    /** What is added to the weight of every RMSNorm. Absent: nothing. */
    normOffset: z.number().exactOptional(),
    /** Absent: `silu`. */
    activation: Activation.exactOptional(),
    /** Factor on the embedded tokens. Absent: 1. */
    embeddingScale: z.number().positive().exactOptional(),
    /** Factor on the products of queries and keys. Absent: 1 / √headDim. */
    attentionScale: z.number().positive().exactOptional(),
    /** Absent: every layer sees all tokens before. */
    sliding: SlidingLayers.exactOptional(),
  })
  .refine(({ heads, kvHeads }) => heads % kvHeads === 0, { message: 'heads must be a multiple of kvHeads' })
  .refine(({ headDim }) => headDim % 2 === 0, { message: 'headDim must be even: rotary positions turn pairs' })
  .refine(({ sliding, layers }) => (sliding?.layers ?? []).every((layer) => layer < layers), {
    message: 'sliding.layers must be layers of the model',
  })

export type TransformerConfig = z.infer<typeof TransformerConfig>

/** Whether a layer sees only the window of `config.sliding`. */
export const isSliding = ({ sliding }: Pick<TransformerConfig, 'sliding'>, layer: number): boolean =>
  sliding?.layers.includes(layer) ?? false

/**
 * A model's parameters by Hugging Face name (see `transformer/weights.ts` for every name and shape). Matrices are
 * `[out, in]`, row-major, float32: a projection computes x·Wᵀ. Query and key rows are in the Hugging Face "half-split"
 * rotary order: dimension i turns with dimension i + headDim / 2.
 */
export interface ModelWeights {
  readonly config: TransformerConfig
  readonly tensors: ReadonlyMap<string, Float32Array>
}
