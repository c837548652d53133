import type { TransformerConfig } from '../../transformer/config.ts'
import { type BlockNorm, names, type Projection } from '../../transformer/weights.ts'
import type { GgufArchitecture } from './architectures.ts'
import type { GgufHeader, GgufTensor } from './header.ts'

/** A tensor of the file under its Hugging Face name. */
export interface NamedTensor extends GgufTensor {
  /** Its name in the file. */
  readonly source: string
  /** Heads whose rows the file keeps in the interleaved rotary order; 0 where there are none. */
  readonly interleavedHeads: number
}

const projections: Readonly<Record<string, Projection>> = {
  attn_q: 'q',
  attn_k: 'k',
  attn_v: 'v',
  attn_output: 'o',
  ffn_gate: 'gate',
  ffn_up: 'up',
  ffn_down: 'down',
}

const norms: Readonly<Record<string, BlockNorm>> = {
  attn_norm: 'attention',
  attn_q_norm: 'query',
  attn_k_norm: 'key',
  ffn_norm: 'mlp',
}
/** Those on what attention and MLP give. */
const postNorms: Readonly<Record<string, BlockNorm>> = { post_attention_norm: 'attentionOut', post_ffw_norm: 'mlpOut' }

/** The file's tensors by Hugging Face name; one that has none keeps its own. */
export function namedTensors(
  config: TransformerConfig,
  architecture: GgufArchitecture,
  { tensors }: GgufHeader,
): Map<string, NamedTensor> {
  const known = knownTensors(config, architecture)
  return new Map(
    [...tensors].map(([source, tensor]) => {
      const { name, interleavedHeads } = known.get(source) ?? { name: source, interleavedHeads: 0 }
      return [name, { ...tensor, source, interleavedHeads }]
    }),
  )
}

function knownTensors(config: TransformerConfig, { interleaved }: GgufArchitecture) {
  const known = new Map<string, { readonly name: string; readonly interleavedHeads: number }>()
  const add = (source: string, name: string, interleavedHeads = 0) => known.set(source, { name, interleavedHeads })
  add('token_embd.weight', names.embedding)
  add('output_norm.weight', names.finalNorm)
  add('output.weight', names.head)
  const turned: Partial<Record<Projection, number>> = interleaved ? { q: config.heads, k: config.kvHeads } : {}
  for (let layer = 0; layer < config.layers; layer++) {
    for (const [source, norm] of Object.entries({ ...norms, ...(config.postNorms && postNorms) }))
      add(`blk.${layer}.${source}.weight`, names.norm(config, layer, norm))
    for (const [source, projection] of Object.entries(projections)) {
      add(`blk.${layer}.${source}.weight`, names.projection(layer, projection), turned[projection])
      add(`blk.${layer}.${source}.bias`, names.bias(layer, projection), turned[projection])
    }
  }
  return known
}

/**
 * Query or key rows from llama.cpp's order, in which the two dimensions that turn together are neighbours, in the
 * Hugging Face order, in which they are half a head apart.
 * @param rows `[heads · headDim, width]`, row-major.
 */
export function halfSplitRows(rows: Float32Array, heads: number, headDim: number): Float32Array {
  const width = rows.length / (heads * headDim)
  const split = new Float32Array(rows.length)
  for (let row = 0; row < heads * headDim; row++) {
    const within = row % headDim
    const target = row - within + (within % 2) * (headDim / 2) + Math.floor(within / 2)
    split.set(rows.subarray(row * width, (row + 1) * width), target * width)
  }
  return split
}
