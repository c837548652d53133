import { closeSync, openSync, writeSync } from 'node:fs'

const alignment = 32
const types = { u32: 4, f32: 6, string: 8 }

/** @param {string} text */
function string(text) {
  const bytes = Buffer.from(text)
  return Buffer.concat([u64(bytes.length), bytes])
}
/** @param {number} value */
function u32(value) {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
/** @param {number} value */
function u64(value) {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
/** @param {number} value */
function f32(value) {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return bytes
}

/**
 * Writes a Llama in float32 as a GGUF file without a vocabulary: who reads it speaks in token ids.
 * @param {string} path
 * @param {import('../../dist/model/embedded/index.js').ModelWeights} weights
 */
export function writeGguf(path, { config, tensors }) {
  const said = [
    ['general.architecture', types.string, string('llama')],
    ['tokenizer.ggml.model', types.string, string('no_vocab')],
    ['llama.vocab_size', types.u32, u32(config.vocabSize)],
    ['llama.context_length', types.u32, u32(config.maxPositions)],
    ['llama.embedding_length', types.u32, u32(config.hiddenSize)],
    ['llama.block_count', types.u32, u32(config.layers)],
    ['llama.feed_forward_length', types.u32, u32(config.intermediateSize)],
    ['llama.attention.head_count', types.u32, u32(config.heads)],
    ['llama.attention.head_count_kv', types.u32, u32(config.kvHeads)],
    ['llama.attention.layer_norm_rms_epsilon', types.f32, f32(config.rmsNormEps)],
    ['llama.rope.dimension_count', types.u32, u32(config.headDim)],
    ['llama.rope.freq_base', types.f32, f32(config.ropeTheta)],
  ]
  const listed = [...tensors].map(([name, data]) => ({ ...place(name, config), data }))
  const padded = (/** @type {number} */ length) => Math.ceil(length / alignment) * alignment
  let offset = 0
  const infos = listed.map(({ name, columns, data }) => {
    const shape = columns === null ? [data.length] : [columns, data.length / columns]
    const info = [string(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset)]
    offset += padded(data.byteLength)
    return Buffer.concat(info)
  })
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    u32(3),
    u64(listed.length),
    u64(said.length),
    ...said.flatMap(([key, type, value]) => [string(key), u32(type), value]),
    ...infos,
  ])
  const file = openSync(path, 'w')
  const write = (/** @type {Uint8Array} */ bytes) =>
    writeSync(file, Buffer.concat([bytes, Buffer.alloc(padded(bytes.length) - bytes.length)]))
  write(head)
  for (const { data, columns, heads } of listed) {
    const values = heads === null || columns === null ? data : interleaved(data, heads, columns)
    write(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
  }
  closeSync(file)
}

const parts = {
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
  input_layernorm: 'attn_norm',
  post_attention_layernorm: 'ffn_norm',
}

/** A tensor's name in the file, its row length, and its heads where rows are in rotary order. */
function place(name, config) {
  const whole = {
    'model.embed_tokens.weight': 'token_embd',
    'model.norm.weight': 'output_norm',
    'lm_head.weight': 'output',
  }
  if (name in whole)
    return {
      name: `${whole[name]}.weight`,
      columns: name === 'model.norm.weight' ? null : config.hiddenSize,
      heads: null,
    }
  const [, layer, part] = /^model\.layers\.(\d+)\.(.+)\.weight$/.exec(name) ?? []
  if (parts[part] === undefined) throw new Error(`${name} is no tensor of a plain Llama`)
  const inputs = { 'self_attn.o_proj': config.heads * config.headDim, 'mlp.down_proj': config.intermediateSize }
  const heads = { 'self_attn.q_proj': config.heads, 'self_attn.k_proj': config.kvHeads }[part] ?? null
  const columns = part.endsWith('norm') ? null : (inputs[part] ?? config.hiddenSize)
  return { name: `blk.${layer}.${parts[part]}.weight`, columns, heads }
}

/** The rows of each head as the file has them: those that turn together side by side. */
function interleaved(data, heads, columns) {
  const turned = new Float32Array(data.length)
  const rows = data.length / columns / heads
  for (let head = 0; head < heads; head++)
    for (let row = 0; row < rows; row++) {
      const from = (head * rows + row) * columns
      const to = row < rows / 2 ? 2 * row : 2 * (row - rows / 2) + 1
      turned.set(data.subarray(from, from + columns), (head * rows + to) * columns)
    }
  return turned
}
