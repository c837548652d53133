import { z } from 'zod'
import type { TransformerConfig } from '../../transformer/config.ts'
import { readTransformerConfig } from '../architecture/read-config.ts'
import { MalformedModelError } from '../malformed-model-error.ts'
import { UnsupportedModelError } from '../unsupported-model-error.ts'
import { architectures, type GgufArchitecture } from './architectures.ts'
import type { GgufHeader } from './header.ts'
import { MalformedGgufError } from './malformed-gguf-error.ts'

const count = z.int().positive()

/** The entries that decide the mathematics, without the architecture's name before them, with llama.cpp's defaults. */
const Entries = z.looseObject({
  embedding_length: count,
  feed_forward_length: count,
  block_count: count.max(1_000),
  context_length: count,
  'attention.head_count': count,
  'attention.head_count_kv': count.optional(),
  'attention.key_length': count.optional(),
  'attention.value_length': count.optional(),
  'attention.sliding_window': z.int().nonnegative().optional(),
  'attention.layer_norm_rms_epsilon': z.number().nonnegative(),
  'rope.dimension_count': count.optional(),
  'rope.freq_base': z.number().positive().default(10_000),
  'rope.scaling.type': z.string().default('none'),
  'rope.scaling.factor': z.number().positive().optional(),
})
type Entries = z.infer<typeof Entries>

/** Entries that may be absent, and otherwise must have this value: anything else is other mathematics. */
const required: Readonly<Record<string, unknown>> = { 'rope.scale_linear': 1, expert_count: 0 }

/**
 * The configuration of a file's model, by way of the config.json that transformers would have for it.
 * @throws UnsupportedModelError, MalformedGgufError naming the entry.
 */
export function readModelConfig({ metadata, tensors }: GgufHeader): {
  readonly architecture: GgufArchitecture
  readonly config: TransformerConfig
} {
  const name = metadata.get('general.architecture') ?? null
  const architecture = typeof name === 'string' ? architectures.get(name) : undefined
  if (architecture === undefined)
    throw new UnsupportedModelError('general.architecture', name, [...architectures.keys()].join(', '))
  const prefix = `${String(name)}.`
  const own = [...metadata].filter(([key]) => key.startsWith(prefix))
  const entries = checked(prefix, Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value])))
  const headDim = entries['attention.key_length'] ?? entries.embedding_length / entries['attention.head_count']
  refuseOtherMathematics(prefix, entries, headDim)
  const configJson = {
    ...huggingFaceEntries(entries, headDim, architecture),
    architectures: [architecture.huggingFace],
    vocab_size: tensors.get('token_embd.weight')?.shape[0],
    tie_word_embeddings: !tensors.has('output.weight'),
  }
  try {
    return { architecture, config: architecture.adjust(readTransformerConfig(configJson)) }
  } catch (error) {
    if (!(error instanceof MalformedModelError)) throw error
    throw new MalformedGgufError(`its ${prefix}* metadata do not fit (as ${error.message})`, { cause: error })
  }
}

function huggingFaceEntries(entries: Entries, headDim: number, architecture: GgufArchitecture) {
  const [layers, heads, hiddenSize] = [entries.block_count, entries['attention.head_count'], entries.embedding_length]
  const window = entries['attention.sliding_window'] ?? 0
  const scaling = { rope_type: 'linear', factor: entries['rope.scaling.factor'] }
  return {
    hidden_size: hiddenSize,
    intermediate_size: entries.feed_forward_length,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: entries['attention.head_count_kv'] ?? heads,
    head_dim: headDim,
    rope_theta: entries['rope.freq_base'],
    rope_scaling: entries['rope.scaling.type'] === 'linear' ? scaling : null,
    rms_norm_eps: entries['attention.layer_norm_rms_epsilon'],
    max_position_embeddings: entries.context_length,
    sliding_window: window === 0 ? null : window,
    ...architecture.known({ layers, hiddenSize, heads, headDim }),
  }
}

function refuseOtherMathematics(prefix: string, entries: Entries, headDim: number): void {
  const sameAsHead = { 'attention.value_length': headDim, 'rope.dimension_count': headDim }
  for (const [field, value] of Object.entries({ ...required, ...sameAsHead })) {
    const found = entries[field] ?? value
    if (found !== value) throw new UnsupportedModelError(prefix + field, found, JSON.stringify(value))
  }
  const scaling = entries['rope.scaling.type']
  if (scaling !== 'none' && scaling !== 'linear')
    throw new UnsupportedModelError(`${prefix}rope.scaling.type`, scaling, '"none" or "linear"')
}

function checked(prefix: string, value: unknown): Entries {
  const parsed = Entries.safeParse(value)
  if (parsed.success) return parsed.data
  const problem = z.prettifyError(parsed.error).replaceAll('\n', ' ')
  throw new MalformedGgufError(`its ${prefix}* metadata do not fit: ${problem}`, { cause: parsed.error })
}
