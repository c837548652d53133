import type { MadeGguf, MadeTensor, MadeValue } from './gguf.ts'

/** The shape of a made model: small enough to write, with two heads on one, so that order and grouping show. */
export const tiny = { vocabSize: 10, hidden: 8, inner: 32, layers: 1, heads: 2, kvHeads: 1, headDim: 4 } as const

/** A tensor in f32, each element `seed` and its place. */
export const f32 = (shape: readonly number[], seed: number): MadeTensor => {
  const length = shape.reduce((product, size) => product * size, 1)
  const values = Float32Array.from({ length }, (_, i) => seed + i / 1024)
  return { shape, type: 0, bytes: new Uint8Array(values.buffer) }
}

const { vocabSize, hidden, inner, heads, kvHeads, headDim } = tiny

/** Every tensor of a block that all architectures have. */
const block = {
  'blk.0.attn_norm.weight': f32([hidden], 1),
  'blk.0.attn_q.weight': f32([heads * headDim, hidden], 2),
  'blk.0.attn_k.weight': f32([kvHeads * headDim, hidden], 3),
  'blk.0.attn_v.weight': f32([kvHeads * headDim, hidden], 4),
  'blk.0.attn_output.weight': f32([hidden, heads * headDim], 5),
  'blk.0.ffn_norm.weight': f32([hidden], 6),
  'blk.0.ffn_gate.weight': f32([inner, hidden], 7),
  'blk.0.ffn_up.weight': f32([inner, hidden], 8),
  'blk.0.ffn_down.weight': f32([hidden, inner], 9),
}

export const tinyTensors: MadeGguf['tensors'] = {
  'token_embd.weight': f32([vocabSize, hidden], 0),
  'output_norm.weight': f32([hidden], 10),
  ...block,
}

/** The entries that every architecture has. */
export const tinyEntries = (architecture: string): Record<string, MadeValue> => ({
  'general.architecture': { text: architecture },
  [`${architecture}.embedding_length`]: { u32: hidden },
  [`${architecture}.feed_forward_length`]: { u32: inner },
  [`${architecture}.block_count`]: { u32: 1 },
  [`${architecture}.context_length`]: { u32: 64 },
  [`${architecture}.attention.head_count`]: { u32: heads },
  [`${architecture}.attention.head_count_kv`]: { u32: kvHeads },
  [`${architecture}.attention.key_length`]: { u32: headDim },
  [`${architecture}.attention.layer_norm_rms_epsilon`]: { f32: 0.5 },
  [`${architecture}.rope.freq_base`]: { f32: 5_000 },
})

/** Byte-level BPE that joins `l o` and `lo w`; the last token is special, and ends a turn. */
export const tinyTokenizer: Record<string, MadeValue> = {
  'tokenizer.ggml.model': { text: 'gpt2' },
  'tokenizer.ggml.pre': { text: 'gpt-2' },
  'tokenizer.ggml.tokens': { texts: ['l', 'o', 'w', '\u0120', 'e', 'r', 'lo', 'low', 'u', '<|end|>'] },
  'tokenizer.ggml.token_type': { i32s: [1, 1, 1, 1, 1, 1, 1, 1, 1, 3] },
  'tokenizer.ggml.merges': { texts: ['l o', 'lo w'] },
  'tokenizer.ggml.eos_token_id': { u32: 9 },
  'tokenizer.chat_template': {
    text: '{% for m in messages %}{{ m.role[0] + m.content + eos_token }}{% endfor %}{% if add_generation_prompt %}low{% endif %}',
  },
}

/** A whole model of one architecture. */
export const tinyGguf = (architecture = 'llama'): MadeGguf => ({
  metadata: { ...tinyEntries(architecture), ...tinyTokenizer },
  tensors: tinyTensors,
})
