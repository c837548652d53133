import { z } from 'zod'
import { TransformerConfig } from '../transformer/config.ts'
import { MalformedModelError } from './malformed-model-error.ts'
import { UnsupportedModelError } from './unsupported-model-error.ts'

/** Architectures whose mathematics are Llama's once the fields below are as required. */
const architectures = ['LlamaForCausalLM', 'MistralForCausalLM']

const count = z.int().positive()
const Rope = z.looseObject({
  rope_type: z.string().optional(),
  type: z.string().optional(),
  rope_theta: z.number().optional(),
})

/** The entries of a Hugging Face config.json that decide the mathematics, with the defaults of transformers. */
const HuggingFaceConfig = z.looseObject({
  architectures: z.array(z.string()).min(1),
  vocab_size: count,
  hidden_size: count,
  intermediate_size: count,
  num_hidden_layers: count.max(1_000),
  num_attention_heads: count,
  num_key_value_heads: count.nullish(),
  head_dim: count.nullish(),
  rope_theta: z.number().positive().default(10_000),
  rope_parameters: Rope.nullish(),
  rope_scaling: Rope.nullish(),
  rms_norm_eps: z.number().nonnegative().default(1e-6),
  max_position_embeddings: count.default(2_048),
  tie_word_embeddings: z.boolean().default(false),
})
type HuggingFaceConfig = z.infer<typeof HuggingFaceConfig>

/** Entries that may be absent or null, and otherwise must have this value. */
const required: Readonly<Record<string, unknown>> = {
  hidden_act: 'silu',
  attention_bias: false,
  mlp_bias: false,
  partial_rotary_factor: 1,
  sliding_window: null,
  quantization_config: null,
}

/**
 * Reads the content of a Hugging Face config.json.
 * @throws UnsupportedModelError naming the field, when it asks for mathematics that the engine does not have.
 * @throws MalformedModelError when a field is missing or of the wrong type.
 */
export function readLlamaConfig(configJson: unknown): TransformerConfig {
  const parsed = HuggingFaceConfig.safeParse(configJson)
  if (!parsed.success) throw malformed(parsed.error)
  const config = parsed.data
  refuseOtherMathematics(config)
  const heads = config.num_attention_heads
  const result = TransformerConfig.safeParse({
    vocabSize: config.vocab_size,
    hiddenSize: config.hidden_size,
    intermediateSize: config.intermediate_size,
    layers: config.num_hidden_layers,
    heads,
    kvHeads: config.num_key_value_heads ?? heads,
    headDim: config.head_dim ?? config.hidden_size / heads,
    ropeTheta: config.rope_parameters?.rope_theta ?? config.rope_theta,
    rmsNormEps: config.rms_norm_eps,
    maxPositions: config.max_position_embeddings,
    tiedHead: config.tie_word_embeddings,
  })
  if (!result.success) throw malformed(result.error)
  return result.data
}

function refuseOtherMathematics(config: HuggingFaceConfig): void {
  if (!config.architectures.some((name) => architectures.includes(name)))
    throw new UnsupportedModelError('architectures', config.architectures, architectures.join(' or '))
  for (const field of ['rope_scaling', 'rope_parameters'] as const) {
    const kind = config[field]?.rope_type ?? config[field]?.type ?? 'default'
    if (kind !== 'default') throw new UnsupportedModelError(field, config[field], 'null or the type "default"')
  }
  for (const [field, value] of Object.entries(required)) {
    const found = config[field] ?? null
    if (found !== null && found !== value) throw new UnsupportedModelError(field, found, JSON.stringify(value))
  }
}

const malformed = (error: z.ZodError): MalformedModelError =>
  new MalformedModelError(`config.json is not usable: ${z.prettifyError(error).replaceAll('\n', ' ')}`, error)
