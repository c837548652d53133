import { z } from 'zod'

const count = z.int().positive()
const positive = z.number().positive()

/** What a config.json says about the rotary positions of some layers. */
export const RopeEntry = z.looseObject({
  rope_type: z.string().nullish(),
  /** The older name. */
  type: z.string().nullish(),
  rope_theta: positive.nullish(),
  partial_rotary_factor: z.number().nullish(),
})
export type RopeEntry = z.infer<typeof RopeEntry>

/** The entries of a Hugging Face config.json that decide the mathematics; the others are let through unread. */
export const HuggingFaceConfig = z.looseObject({
  vocab_size: count,
  hidden_size: count,
  intermediate_size: count,
  num_hidden_layers: count.max(1_000),
  num_attention_heads: count,
  num_key_value_heads: count.nullish(),
  head_dim: count.nullish(),
  rms_norm_eps: z.number().nonnegative().default(1e-6),
  max_position_embeddings: count,
  tie_word_embeddings: z.boolean().default(false),
  attention_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  query_pre_attn_scalar: positive.nullish(),
  rope_theta: positive.default(10_000),
  rope_scaling: RopeEntry.nullish(),
  /** Of all layers, or one entry for each type of layer. */
  rope_parameters: RopeEntry.extend({
    full_attention: RopeEntry.nullish(),
    sliding_attention: RopeEntry.nullish(),
  }).nullish(),
  /** θ of the sliding layers, where they have a rope of their own. */
  rope_local_base_freq: positive.nullish(),
  sliding_window: count.nullish(),
  use_sliding_window: z.boolean().nullish(),
  max_window_layers: z.int().nonnegative().nullish(),
  sliding_window_pattern: count.nullish(),
  layer_types: z.array(z.string()).nullish(),
})
export type HuggingFaceConfig = z.infer<typeof HuggingFaceConfig>
