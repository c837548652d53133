import type { LlamaConfig } from './config.ts'

/** The seven projections of a block, by short name. */
export const projections = ['q', 'k', 'v', 'o', 'gate', 'up', 'down'] as const

export type Projection = (typeof projections)[number]

const modules: Record<Projection, string> = {
  q: 'self_attn.q_proj',
  k: 'self_attn.k_proj',
  v: 'self_attn.v_proj',
  o: 'self_attn.o_proj',
  gate: 'mlp.gate_proj',
  up: 'mlp.up_proj',
  down: 'mlp.down_proj',
}

/** The Hugging Face names of a Llama's parameters. */
export const names = {
  embedding: 'model.embed_tokens.weight',
  finalNorm: 'model.norm.weight',
  head: 'lm_head.weight',
  inputNorm: (layer: number) => `model.layers.${layer}.input_layernorm.weight`,
  postAttentionNorm: (layer: number) => `model.layers.${layer}.post_attention_layernorm.weight`,
  projection: (layer: number, projection: Projection) => `model.layers.${layer}.${modules[projection]}.weight`,
} as const

/** `[out, in]` of a block's projection. */
export function projectionShape(config: LlamaConfig, projection: Projection): readonly [number, number] {
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

/** Every parameter of a model by name with its shape, in a fixed order: embedding, blocks, final norm, head if untied. */
export function weightShapes(config: LlamaConfig): Map<string, readonly number[]> {
  const { vocabSize, hiddenSize, layers, tiedHead } = config
  const shapes = new Map<string, readonly number[]>([[names.embedding, [vocabSize, hiddenSize]]])
  for (let layer = 0; layer < layers; layer++) {
    shapes.set(names.inputNorm(layer), [hiddenSize])
    for (const projection of projections) {
      shapes.set(names.projection(layer, projection), projectionShape(config, projection))
    }
    shapes.set(names.postAttentionNorm(layer), [hiddenSize])
  }
  shapes.set(names.finalNorm, [hiddenSize])
  if (!tiedHead) shapes.set(names.head, [vocabSize, hiddenSize])
  return shapes
}
