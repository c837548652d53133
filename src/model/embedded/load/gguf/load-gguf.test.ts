import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MadeGguf, writeGguf } from '../../../../../test/support/gguf.ts'
import { f32, tiny, tinyEntries, tinyGguf, tinyTensors, tinyTokenizer } from '../../../../../test/support/tiny-gguf.ts'
import { InputError } from '../../../../errors/index.ts'
import { loadModel } from '../load-model.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ratchet-gguf-'))
})

afterAll(() => rm(folder, { recursive: true }))

async function load(made: MadeGguf | Uint8Array) {
  const path = join(folder, 'made.gguf')
  await writeFile(path, made instanceof Uint8Array ? made : writeGguf(made))
  return loadModel(path)
}

async function complaint(made: MadeGguf | Uint8Array): Promise<InputError> {
  const error: unknown = await load(made).catch((caught: unknown) => caught)
  if (!(error instanceof InputError)) throw new Error('an InputError was expected', { cause: error })
  expect(error.hint).not.toBe('')
  return error
}

const values = (tensor: { readonly bytes: Uint8Array } | undefined): Float32Array =>
  new Float32Array(tensor?.bytes.slice().buffer ?? new ArrayBuffer(0))

describe('a Llama', () => {
  it('has its configuration, tokenizer, template and weights', async () => {
    const model = await load(tinyGguf())
    expect(model.name).toBe('made')
    expect(model.weights.config).toEqual({
      vocabSize: 10,
      hiddenSize: 8,
      intermediateSize: 32,
      layers: 1,
      heads: 2,
      kvHeads: 1,
      headDim: 4,
      ropeTheta: 5_000,
      rmsNormEps: 0.5,
      maxPositions: 64,
      tiedHead: true,
    })
    expect(model.tokenizer.encodeWithSpecials('low lower<|end|>')).toEqual([7, 3, 7, 4, 5, 9])
    expect(model.tokenizer.encode('<|end|>')).not.toContain(9)
    expect(model.stopTokens).toEqual([9])
    expect(model.chatTemplate?.variables).toEqual({ eos_token: '<|end|>' })
    expect(model.weights.tensors.get('model.embed_tokens.weight')).toEqual(values(tinyTensors['token_embd.weight']))
    expect(model.weights.tensors.get('model.layers.0.mlp.down_proj.weight')).toEqual(
      values(tinyTensors['blk.0.ffn_down.weight']),
    )
  })

  it('gets its query and key rows back into halves: 0 2 1 3 for heads of four', async () => {
    const { tensors } = (await load(tinyGguf())).weights
    const rows = (name: string) => {
      const all = tensors.get(`model.layers.0.self_attn.${name}.weight`) ?? new Float32Array()
      return Array.from({ length: all.length / tiny.hidden }, (_, row) => all[row * tiny.hidden])
    }
    const stored = (seed: number, ...order: number[]) =>
      order.map((row) => Math.fround(seed + (row * tiny.hidden) / 1024))
    expect(rows('q_proj')).toEqual(stored(2, 0, 2, 1, 3, 4, 6, 5, 7))
    expect(rows('k_proj')).toEqual(stored(3, 0, 2, 1, 3))
    expect(rows('v_proj')).toEqual(stored(4, 0, 1, 2, 3))
  })

  it('unpacks blocks, reads a head of its own, and hashes what it read', async () => {
    const block = new Uint8Array(34).fill(3).fill(0, 0, 2)
    block[1] = 0x3c // f16 1
    const down = { shape: [8, 32], type: 8, bytes: Buffer.concat(Array.from({ length: 8 }, () => block)) }
    const tensors = { ...tinyTensors, 'blk.0.ffn_down.weight': down, 'output.weight': f32([10, 8], 11) }
    const model = await load({ ...tinyGguf(), tensors })
    expect(model.weights.config.tiedHead).toBe(false)
    expect(model.weights.tensors.get('lm_head.weight')).toEqual(values(tensors['output.weight']))
    expect(model.weights.tensors.get('model.layers.0.mlp.down_proj.weight')).toEqual(new Float32Array(256).fill(3))
    expect(model.hash).toBe((await load({ ...tinyGguf(), tensors })).hash)
    expect(model.hash).not.toBe((await load(tinyGguf())).hash)
  })
})

describe('other architectures', () => {
  const of = (architecture: string, more: MadeGguf['tensors'], entries: MadeGguf['metadata'] = {}): MadeGguf => ({
    metadata: { ...tinyEntries(architecture), ...tinyTokenizer, ...entries },
    tensors: { ...tinyTensors, ...more },
  })

  it('Qwen 2: biases, and rows as they are', async () => {
    const biases = {
      'blk.0.attn_q.bias': f32([8], 12),
      'blk.0.attn_k.bias': f32([4], 13),
      'blk.0.attn_v.bias': f32([4], 14),
    }
    const { config, tensors } = (await load(of('qwen2', biases))).weights
    expect(config.biases).toEqual(['q', 'k', 'v'])
    expect(tensors.get('model.layers.0.self_attn.q_proj.bias')).toEqual(values(biases['blk.0.attn_q.bias']))
    expect(tensors.get('model.layers.0.self_attn.q_proj.weight')).toEqual(values(tinyTensors['blk.0.attn_q.weight']))
  })

  const headNorms = { 'blk.0.attn_q_norm.weight': f32([4], 15), 'blk.0.attn_k_norm.weight': f32([4], 16) }

  it('Qwen 3: a norm a head', async () => {
    const { config, tensors } = (await load(of('qwen3', headNorms))).weights
    expect(config).toMatchObject({ qkNorm: true, headDim: 4 })
    expect(tensors.get('model.layers.0.self_attn.k_norm.weight')).toEqual(values(headNorms['blk.0.attn_k_norm.weight']))
  })

  it('Gemma 3: sliding layers, and norms that already hold the 1 that the model adds', async () => {
    const norms = {
      ...headNorms,
      'blk.0.post_attention_norm.weight': f32([8], 17),
      'blk.0.post_ffw_norm.weight': f32([8], 18),
    }
    const window = { 'gemma3.attention.sliding_window': { u32: 16 } }
    const { config, tensors } = (await load(of('gemma3', norms, window))).weights
    expect(config).toMatchObject({
      postNorms: true,
      activation: 'gelu-tanh',
      embeddingScale: Math.sqrt(8),
      attentionScale: 0.5,
      sliding: { window: 16, layers: [0], rope: { theta: 10_000 } },
    })
    expect(config.normOffset).toBeUndefined()
    const norm = (name: string) => tensors.get(`model.layers.0.${name}.weight`)?.[0]
    expect(norm('post_attention_layernorm')).toBe(17)
    expect(norm('pre_feedforward_layernorm')).toBe(6)
    expect(norm('post_feedforward_layernorm')).toBe(18)
  })
})

describe('SentencePiece', () => {
  /** Scores join `l o` before `o w`, and `_ low` before anything that has more letters. */
  const metadata = (more: MadeGguf['metadata'] = {}): MadeGguf['metadata'] => ({
    ...tinyEntries('llama'),
    'tokenizer.ggml.model': { text: 'llama' },
    'tokenizer.ggml.tokens': {
      texts: ['<unk>', '</s>', '<0x0A>', '\u2581', 'l', 'o', 'w', 'lo', 'low', '\u2581low'],
    },
    'tokenizer.ggml.scores': { f32s: [0, 0, 0, -5, -6, -7, -8, -1, -2, -3] },
    'tokenizer.ggml.token_type': { i32s: [2, 3, 6, 1, 1, 1, 1, 1, 1, 1] },
    'tokenizer.ggml.eos_token_id': { u32: 1 },
    ...more,
  })

  it('joins by score, marks spaces, and puts one before a text', async () => {
    const { tokenizer } = await load({ metadata: metadata(), tensors: tinyTensors })
    expect(tokenizer.encodeWithSpecials('low low\nlow</s>low')).toEqual([9, 9, 2, 8, 1, 9])
    expect(tokenizer.encodeWithSpecials('low</s>', true)).toEqual([8, 1])
    expect(tokenizer.encode('wol</s>')).toEqual([6, 5, 4, 0])
    expect(tokenizer.decode([9, 2, 8])).toBe(' low\nlow')
  })

  it('puts none where the file says so', async () => {
    const { tokenizer } = await load({
      metadata: metadata({ 'tokenizer.ggml.add_space_prefix': { bool: false } }),
      tensors: tinyTensors,
    })
    expect(tokenizer.encodeWithSpecials('low low')).toEqual([8, 9])
  })
})

describe('a file that cannot be loaded says what is wrong', () => {
  const entry = (key: string, value: MadeGguf['metadata'][string]): MadeGguf => ({
    metadata: { ...tinyGguf().metadata, [key]: value },
    tensors: tinyTensors,
  })
  const tensor = (name: string, value: MadeGguf['tensors'][string]): MadeGguf => ({
    ...tinyGguf(),
    tensors: { ...tinyTensors, [name]: value },
  })
  const without = (key: string): MadeGguf => {
    const { [key]: _, ...metadata } = tinyGguf().metadata
    return { metadata, tensors: tinyTensors }
  }

  it.each<[string, MadeGguf | Uint8Array, string, RegExp]>([
    [
      'another architecture',
      tinyGguf('rwkv'),
      'architecture',
      /general\.architecture is "rwkv", and supported is llama, q/,
    ],
    ['a mixture of experts', entry('llama.expert_count', { u32: 8 }), 'architecture', /llama\.expert_count is 8/],
    ['scaled rotary positions', entry('llama.rope.scaling.type', { text: 'yarn' }), 'architecture', /"yarn".*"linear"/],
    ['other rotary positions', entry('llama.rope.dimension_count', { u32: 2 }), 'architecture', /dimension_count is 2/],
    ['a tensor that Llama lacks', tensor('rope_freqs.weight', f32([2], 1)), 'architecture', /rope_freqs\.weight/],
    ['unknown words', entry('tokenizer.ggml.pre', { text: 'tekken' }), 'architecture', /tokenizer\.ggml\.pre.*smollm/],
    [
      'another tokenizer',
      entry('tokenizer.ggml.model', { text: 't5' }),
      'architecture',
      /tokenizer\.ggml\.model is "t5"/,
    ],
    [
      'a quantisation that is not read',
      tensor('blk.0.ffn_up.weight', { ...f32([32, 8], 1), type: 21 }),
      'quantization',
      /"blk\.0\.ffn_up\.weight" is stored as ggml type 21/,
    ],
    [
      'no width',
      without('llama.embedding_length'),
      'gguf',
      /made\.gguf is not a usable GGUF file.*llama.*embedding_length/,
    ],
    ['no merges', without('tokenizer.ggml.merges'), 'gguf', /tokenizer\.ggml\.merges/],
    [
      'kinds for other tokens',
      entry('tokenizer.ggml.token_type', { i32s: [1] }),
      'gguf',
      /token_type has 1 elements for 10/,
    ],
    ['a token beyond all', entry('tokenizer.ggml.eos_token_id', { u32: 99 }), 'gguf', /token 99, and there are 10/],
    ['a number that no double holds', entry('x', { u64: 2n ** 60n }), 'gguf', /value of "x" is 1152921504606846976/],
    ['heads that do not divide', entry('llama.attention.head_count_kv', { u32: 3 }), 'gguf', /kvHeads/],
    ['an alignment of 3', entry('general.alignment', { u32: 3 }), 'gguf', /general\.alignment/],
    ['a tensor of another shape', tensor('blk.0.attn_norm.weight', f32([9], 1)), 'model', /\[9\], and .* \[8\]/],
    ['no file at all', new Uint8Array(), 'gguf', /ends at byte 0, within its first four bytes/],
    ['another format', new TextEncoder().encode('PK\u0003\u0004abcdefgh'), 'gguf', /begins with "PK/],
  ])('%s', async (_, made, kind, message) => {
    const error = await complaint(made)
    expect(error.code).toMatch(new RegExp(`^model/(malformed|unsupported)-${kind}`))
    expect(error.message).toMatch(message)
  })
})
