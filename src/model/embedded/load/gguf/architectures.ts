import type { TransformerConfig } from '../../transformer/config.ts'

/** How a file of one architecture becomes a Hugging Face model. */
export interface GgufArchitecture {
  /** What `architectures` in config.json calls it. */
  readonly huggingFace: string
  /** Whether query and key rows are stored in llama.cpp's order, in which the two that turn together are neighbours. */
  readonly interleaved: boolean
  /** Entries of config.json that the metadata do not hold, because llama.cpp knows them. */
  readonly known: (entries: KnownFrom) => Readonly<Record<string, unknown>>
  /** What conversion has already put into the weights. */
  readonly adjust: (config: TransformerConfig) => TransformerConfig
}

/** What {@link GgufArchitecture.known} may depend on. */
export interface KnownFrom {
  readonly layers: number
  readonly hiddenSize: number
  readonly heads: number
  readonly headDim: number
}

const llama: GgufArchitecture = {
  huggingFace: 'LlamaForCausalLM',
  interleaved: true,
  known: () => ({}),
  adjust: (config) => config,
}

const qwen2: GgufArchitecture = { ...llama, huggingFace: 'Qwen2ForCausalLM', interleaved: false }
const qwen3: GgufArchitecture = { ...qwen2, huggingFace: 'Qwen3ForCausalLM' }

/** Only the largest Gemma 3, of 62 layers, scales attention by something else than the width of a head. */
const largestGemma = 62

const gemma3: GgufArchitecture = {
  huggingFace: 'Gemma3ForCausalLM',
  interleaved: false,
  known: ({ layers, hiddenSize, heads, headDim }) => ({
    query_pre_attn_scalar: layers === largestGemma ? hiddenSize / heads : headDim,
    rope_local_base_freq: 10_000,
    sliding_window_pattern: 6,
  }),
  // The weights of the norms hold the 1 that the model adds to them.
  adjust: (config) => {
    const { normOffset: _, ...rest } = config
    return rest
  },
}

/** By `general.architecture`. */
export const architectures: ReadonlyMap<string, GgufArchitecture> = new Map([
  ['llama', llama],
  ['qwen2', qwen2],
  ['qwen3', qwen3],
  ['gemma3', gemma3],
])
