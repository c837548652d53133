import type { TransformerConfig } from './config.ts'
import { type Projection, projections } from './projections.ts'

export { type Projection, projections } from './projections.ts'

const modules: Record<Projection, string> = {
  q: 'self_attn.q_proj',
  k: 'self_attn.k_proj',
  v: 'self_attn.v_proj',
  o: 'self_attn.o_proj',
  gate: 'mlp.gate_proj',
  up: 'mlp.up_proj',
  down: 'mlp.down_proj',
}

/**
 * The RMSNorms of a block, by where they are: on what attention or the MLP reads (`attention`, `mlp`), on what it gives
 * (`attentionOut`, `mlpOut`), on the queries and keys of each head.
 */
export type BlockNorm = 'attention' | 'attentionOut' | 'mlp' | 'mlpOut' | 'query' | 'key'

/**
 * Where a block has norms on what it gives, `post_attention_layernorm` is one of those; where it has none, that is the
 * name of the MLP's.
 */
const normModules = (postNorms: boolean): Record<BlockNorm, string> => ({
  attention: 'input_layernorm',
  attentionOut: 'post_attention_layernorm',
  mlp: postNorms ? 'pre_feedforward_layernorm' : 'post_attention_layernorm',
  mlpOut: 'post_feedforward_layernorm',
  query: 'self_attn.q_norm',
  key: 'self_attn.k_norm',
})

/** The Hugging Face names of a model's parameters. */
export const names = {
  embedding: 'model.embed_tokens.weight',
  finalNorm: 'model.norm.weight',
  head: 'lm_head.weight',
  norm: ({ postNorms }: Pick<TransformerConfig, 'postNorms'>, layer: number, norm: BlockNorm) =>
    `model.layers.${layer}.${normModules(postNorms === true)[norm]}.weight`,
  projection: (layer: number, projection: Projection) => `model.layers.${layer}.${modules[projection]}.weight`,
  bias: (layer: number, projection: Projection) => `model.layers.${layer}.${modules[projection]}.bias`,
} as const

/** `[out, in]` of a block's projection. */
export function projectionShape(config: TransformerConfig, projection: Projection): readonly [number, number] {
  const { hiddenSize, intermediateSize, heads, kvHeads, headDim } = config
  switch (projection) {
    case 'q':
      return [heads * headDim, hiddenSize]
    case 'k':
    case 'v':
      return [kvHeads * headDim, hiddenSize]
    case 'o':
      return [hiddenSize, heads * headDim]
    case 'gate':
    case 'up':
      return [intermediateSize, hiddenSize]
    case 'down':
      return [hiddenSize, intermediateSize]
  }
}

/** `[out, in]` of every projection of every block, by name. */
export function projectionShapes(config: TransformerConfig): Map<string, readonly [number, number]> {
  const layers = Array.from({ length: config.layers }, (_, layer) => layer)
  return new Map(
    layers.flatMap((layer) =>
      projections.map(
        (projection) => [names.projection(layer, projection), projectionShape(config, projection)] as const,
      ),
    ),
  )
}

/** The norms that a model's blocks have, besides the one that attention reads. */
function furtherNorms({ qkNorm, postNorms }: TransformerConfig): BlockNorm[] {
  const ofHeads = qkNorm ? (['query', 'key'] as const) : []
  return [...ofHeads, ...(postNorms ? (['attentionOut', 'mlp', 'mlpOut'] as const) : (['mlp'] as const))]
}

/** Every parameter of a model by name with its shape, in a fixed order: embedding, blocks, final norm, head if untied. */
export function weightShapes(config: TransformerConfig): Map<string, readonly number[]> {
  const { vocabSize, hiddenSize, headDim, layers, tiedHead, biases = [] } = config
  const shapes = new Map<string, readonly number[]>([[names.embedding, [vocabSize, hiddenSize]]])
  for (let layer = 0; layer < layers; layer++) {
    shapes.set(names.norm(config, layer, 'attention'), [hiddenSize])
    for (const projection of projections) {
      const shape = projectionShape(config, projection)
      shapes.set(names.projection(layer, projection), shape)
      if (biases.includes(projection)) shapes.set(names.bias(layer, projection), [shape[0]])
    }
    for (const norm of furtherNorms(config)) {
      shapes.set(names.norm(config, layer, norm), [norm === 'query' || norm === 'key' ? headDim : hiddenSize])
    }
  }
  shapes.set(names.finalNorm, [hiddenSize])
  if (!tiedHead) shapes.set(names.head, [vocabSize, hiddenSize])
  return shapes
}
