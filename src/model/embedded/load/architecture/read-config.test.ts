import { describe, expect, it } from 'vitest'
import { InputError } from '../../../../errors/index.ts'
import { readTransformerConfig } from './read-config.ts'

/** The entries of configurations that are published with models, as far as they decide the mathematics. */
const llama32 = {
  architectures: ['LlamaForCausalLM'],
  attention_bias: false,
  head_dim: 64,
  hidden_act: 'silu',
  hidden_size: 2048,
  intermediate_size: 8192,
  max_position_embeddings: 131072,
  mlp_bias: false,
  num_attention_heads: 32,
  num_hidden_layers: 16,
  num_key_value_heads: 8,
  rms_norm_eps: 1e-5,
  rope_scaling: {
    factor: 32,
    high_freq_factor: 4,
    low_freq_factor: 1,
    original_max_position_embeddings: 8192,
    rope_type: 'llama3',
  },
  rope_theta: 500000,
  tie_word_embeddings: true,
  vocab_size: 128256,
}
const qwen25 = {
  architectures: ['Qwen2ForCausalLM'],
  hidden_act: 'silu',
  hidden_size: 896,
  intermediate_size: 4864,
  max_position_embeddings: 32768,
  max_window_layers: 21,
  num_attention_heads: 14,
  num_hidden_layers: 24,
  num_key_value_heads: 2,
  rms_norm_eps: 1e-6,
  rope_theta: 1000000,
  sliding_window: 32768,
  tie_word_embeddings: true,
  use_sliding_window: false,
  vocab_size: 151936,
}
const qwen3 = {
  architectures: ['Qwen3ForCausalLM'],
  attention_bias: false,
  head_dim: 128,
  hidden_act: 'silu',
  hidden_size: 1024,
  intermediate_size: 3072,
  max_position_embeddings: 40960,
  max_window_layers: 28,
  num_attention_heads: 16,
  num_hidden_layers: 28,
  num_key_value_heads: 8,
  rms_norm_eps: 1e-6,
  rope_scaling: null,
  rope_theta: 1000000,
  sliding_window: null,
  tie_word_embeddings: true,
  use_sliding_window: false,
  vocab_size: 151936,
}
/** In the form of before `layer_types`. */
const gemma3 = {
  architectures: ['Gemma3ForCausalLM'],
  attn_logit_softcapping: null,
  final_logit_softcapping: null,
  head_dim: 256,
  hidden_activation: 'gelu_pytorch_tanh',
  hidden_size: 640,
  intermediate_size: 2048,
  max_position_embeddings: 32768,
  num_attention_heads: 4,
  num_hidden_layers: 18,
  num_key_value_heads: 1,
  query_pre_attn_scalar: 256,
  rms_norm_eps: 1e-6,
  rope_local_base_freq: 10000,
  rope_scaling: null,
  rope_theta: 1000000,
  sliding_window: 512,
  sliding_window_pattern: 6,
  vocab_size: 262144,
}

describe('readTransformerConfig', () => {
  it('reads Llama 3.2', () => {
    expect(readTransformerConfig(llama32)).toEqual({
      vocabSize: 128256,
      hiddenSize: 2048,
      intermediateSize: 8192,
      layers: 16,
      heads: 32,
      kvHeads: 8,
      headDim: 64,
      ropeTheta: 500000,
      rmsNormEps: 1e-5,
      maxPositions: 131072,
      tiedHead: true,
      ropeScaling: {
        type: 'llama3',
        factor: 32,
        lowFrequencyFactor: 1,
        highFrequencyFactor: 4,
        originalMaxPositions: 8192,
      },
    })
    const biased = readTransformerConfig({ ...llama32, attention_bias: true, mlp_bias: true })
    expect(biased.biases).toEqual(['q', 'k', 'v', 'o', 'gate', 'up', 'down'])
  })

  it('reads Qwen2.5, whose window is off', () => {
    const config = readTransformerConfig(qwen25)
    expect(config).toMatchObject({ headDim: 64, ropeTheta: 1e6, biases: ['q', 'k', 'v'] })
    expect(Object.keys(config)).toHaveLength(12)
    const windowed = readTransformerConfig({ ...qwen25, use_sliding_window: true })
    expect(windowed.sliding).toEqual({ window: 32768, layers: [21, 22, 23] })
  })

  it('reads Qwen3', () => {
    const config = readTransformerConfig(qwen3)
    expect(config).toMatchObject({ headDim: 128, qkNorm: true })
    expect(Object.keys(config)).toHaveLength(12)
    const { head_dim: _, ...silent } = qwen3
    expect(readTransformerConfig({ ...silent, attention_bias: true })).toEqual({
      ...config,
      biases: ['q', 'k', 'v', 'o'],
    })
  })

  it('reads Gemma 3 in its older and its newer form', () => {
    const config = readTransformerConfig(gemma3)
    expect(config).toMatchObject({
      ropeTheta: 1e6,
      tiedHead: true,
      qkNorm: true,
      postNorms: true,
      normOffset: 1,
      activation: 'gelu-tanh',
      embeddingScale: Math.sqrt(640),
      attentionScale: 1 / 16,
      sliding: {
        window: 512,
        layers: [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16],
        rope: { theta: 10000 },
      },
    })
    const { rope_theta, rope_local_base_freq, rope_scaling: _, sliding_window_pattern: __, ...rest } = gemma3
    const newer = {
      ...rest,
      layer_types: Array.from({ length: 18 }, (_, i) => (i % 6 === 5 ? 'full_attention' : 'sliding_attention')),
      rope_parameters: {
        full_attention: { rope_type: 'default', rope_theta },
        sliding_attention: { rope_type: 'default', rope_theta: rope_local_base_freq },
      },
    }
    expect(readTransformerConfig(newer)).toEqual(config)
    // The larger ones stretch the rope of the layers that see everything.
    const stretched = readTransformerConfig({ ...gemma3, rope_scaling: { factor: 8, rope_type: 'linear' } })
    expect(stretched).toEqual({ ...config, ropeScaling: { type: 'linear', factor: 8 } })
  })

  it.each([
    ['architectures', llama32, { architectures: ['Gemma2ForCausalLM'] }, /Qwen3ForCausalLM or Gemma3ForCausalLM/],
    ['final_logit_softcapping', gemma3, { final_logit_softcapping: 30 }, /is 30, and supported is null/],
    ['attn_logit_softcapping', gemma3, { attn_logit_softcapping: 50 }, /is 50, and supported is null/],
    ['use_bidirectional_attention', gemma3, { use_bidirectional_attention: true }, /supported is false/],
    ['hidden_activation', gemma3, { hidden_activation: 'gelu' }, /supported is "gelu_pytorch_tanh"/],
    ['hidden_act', qwen3, { hidden_act: 'gelu' }, /supported is "silu"/],
    ['layer_types', qwen3, { layer_types: ['chunked_attention'] }, /full_attention or sliding_attention/],
    ['rope_scaling', qwen25, { rope_scaling: { type: 'yarn', factor: 4 } }, /"default", "linear" or "llama3"/],
    ['rope_scaling', qwen25, { rope_parameters: { rope_type: 'longrope' } }, /longrope/],
    [
      'partial_rotary_factor',
      qwen3,
      { rope_parameters: { partial_rotary_factor: 0.5 } },
      /is 0\.5, and supported is 1/,
    ],
  ])('refuses another %s', (field, config, change, message) => {
    const refused = () => readTransformerConfig({ ...config, ...change })
    expect(refused).toThrow(InputError)
    expect(refused).toThrow(message)
    expect(refused).toThrow(field)
  })

  it.each([
    ['a scaling without its numbers', llama32, { rope_scaling: { rope_type: 'llama3', factor: 8 } }, /low_freq_factor/],
    ['scaling bounds that cross', llama32, { rope_scaling: { ...llama32.rope_scaling, low_freq_factor: 5 } }, /below/],
    ['too few layer types', qwen3, { layer_types: ['full_attention'] }, /layer_types has 1 entries for 28 layers/],
    [
      'sliding layers without a window',
      qwen3,
      { layer_types: Array.from({ length: 28 }, () => 'sliding_attention') },
      /no sliding_window/,
    ],
    ['no architectures', { ...qwen3, architectures: undefined }, {}, /architectures/],
  ])('refuses %s', (_, config, change, message) => {
    const refused = () => readTransformerConfig({ ...config, ...change })
    expect(refused).toThrow(expect.objectContaining({ code: 'model/malformed-model' }))
    expect(refused).toThrow(message)
  })
})
