import type { Projection, TransformerConfig } from '../../transformer/index.ts'
import type { HuggingFaceConfig } from './hugging-face-config.ts'

/** How config.json is read for the models of one architecture. */
export interface Family {
  /** What transformers assumes where config.json is silent. */
  readonly defaults: Readonly<Record<string, unknown>>
  /** Entries that may be absent or null, and otherwise must have this value. */
  readonly required: Readonly<Record<string, unknown>>
  /** Whether a layer has the window, where `layer_types` does not say. */
  readonly slides: (config: HuggingFaceConfig, layer: number) => boolean
  /** Whether sliding layers have a rope of their own. */
  readonly localRope: boolean
  /** Its departures from Llama that are not about positions. */
  readonly departures: (config: HuggingFaceConfig) => Partial<TransformerConfig>
}

const attention = ['q', 'k', 'v', 'o'] as const
const mlp = ['gate', 'up', 'down'] as const

const biases = (...projections: Projection[]): Partial<TransformerConfig> =>
  projections.length > 0 ? { biases: projections } : {}

const llama: Family = {
  defaults: { max_position_embeddings: 2_048 },
  required: { hidden_act: 'silu', sliding_window: null },
  slides: () => false,
  localRope: false,
  departures: ({ attention_bias, mlp_bias }) => biases(...(attention_bias ? attention : []), ...(mlp_bias ? mlp : [])),
}

const mistral: Family = {
  defaults: { max_position_embeddings: 131_072, num_key_value_heads: 8, sliding_window: 4_096 },
  required: { hidden_act: 'silu', attention_bias: false },
  slides: ({ sliding_window }) => typeof sliding_window === 'number',
  localRope: false,
  departures: () => ({}),
}

const qwen2: Family = {
  defaults: { max_position_embeddings: 32_768, sliding_window: 4_096, max_window_layers: 28 },
  required: { hidden_act: 'silu' },
  slides: ({ use_sliding_window, sliding_window, max_window_layers }, layer) =>
    use_sliding_window === true && typeof sliding_window === 'number' && layer >= (max_window_layers ?? 0),
  localRope: false,
  departures: () => biases('q', 'k', 'v'),
}

const qwen3: Family = {
  ...qwen2,
  defaults: { ...qwen2.defaults, head_dim: 128 },
  departures: ({ attention_bias }) => ({ ...biases(...(attention_bias ? attention : [])), qkNorm: true }),
}

const gemma3: Family = {
  defaults: {
    head_dim: 256,
    num_key_value_heads: 4,
    max_position_embeddings: 131_072,
    tie_word_embeddings: true,
    query_pre_attn_scalar: 256,
    rope_theta: 1_000_000,
    rope_local_base_freq: 10_000,
    sliding_window: 4_096,
    sliding_window_pattern: 6,
  },
  required: {
    hidden_activation: 'gelu_pytorch_tanh',
    attn_logit_softcapping: null,
    final_logit_softcapping: null,
    use_bidirectional_attention: false,
  },
  // Every sixth layer sees everything.
  slides: ({ sliding_window_pattern }, layer) => (layer + 1) % (sliding_window_pattern ?? 6) !== 0,
  localRope: true,
  departures: ({ hidden_size, query_pre_attn_scalar, attention_bias }) => ({
    ...biases(...(attention_bias ? attention : [])),
    qkNorm: true,
    postNorms: true,
    normOffset: 1,
    activation: 'gelu-tanh',
    embeddingScale: Math.sqrt(hidden_size),
    attentionScale: 1 / Math.sqrt(query_pre_attn_scalar ?? 256),
  }),
}

/** The architectures that the engine runs, by what `architectures` in config.json calls them. */
export const families: ReadonlyMap<string, Family> = new Map([
  ['LlamaForCausalLM', llama],
  ['MistralForCausalLM', mistral],
  ['Qwen2ForCausalLM', qwen2],
  ['Qwen3ForCausalLM', qwen3],
  ['Gemma3ForCausalLM', gemma3],
])
