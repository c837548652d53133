import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { engineRows } from '../../../test/support/engine-rows.ts'
import { recorded, recordedAdapter, recordedModel, unpack } from '../../../test/support/recorded.ts'
import { readAdapter, writeAdapter } from '../embedded/index.ts'
import type { TransformerConfig } from '../embedded/transformer/config.ts'
import { readSafetensors, writeSafetensors } from '../embedded/load/safetensors.ts'
import { toFloat32 } from '../embedded/load/floats.ts'
import { LoraTarget, loraShapes } from '../embedded/train/lora.ts'
import { type PeftAdapter, peftAdapter, writePeftFolder } from './peft-folder.ts'
import { adapterOfPeft, readPeftFolder } from './peft-import.ts'

/* Adapters that peft saved, with the logits that it computes: scripts/vectors/peft_import.py. */
interface Recorded {
  readonly config: string
  readonly weights: string
}
const vectors = JSON.parse(readFileSync(new URL('vectors/peft-import.json', import.meta.url), 'utf8')) as {
  readonly tokens: readonly number[]
  readonly cases: Readonly<Record<string, Recorded & { readonly logits: string }>>
  readonly refused: Readonly<Record<string, Recorded>>
}
const files = ({ config, weights }: Recorded): PeftAdapter => ({ config, weights: Buffer.from(weights, 'base64') })

const { config: tied } = recorded('llama') as { config: TransformerConfig }
const model: TransformerConfig = { ...tied, tiedHead: false }
const unusable = expect.objectContaining({ code: 'model/unusable-peft-adapter', hint: expect.any(String) })

const reasons: Readonly<Record<string, RegExp>> = {
  dora: /"use_dora" is on/,
  rslora: /"use_rslora" is on/,
  'rank pattern': /"rank_pattern" is on/,
  'modules to save': /"modules_to_save" is on/,
  embeddings: /one of the model itself/,
  'one block': /"layers_to_transform" is on/,
}

describe('an adapter that peft saved', () => {
  it.each(Object.entries(vectors.cases))('means to the engine what it means to peft: %s', async (name, saved) => {
    const config = name.includes('head') ? model : tied
    const adapter = readAdapter(config, adapterOfPeft(config, files(saved)))
    const [rows = []] = await engineRows({ model: recordedModel(config), adapter, sequences: [vectors.tokens] })
    const logits = unpack(saved.logits)
    expect(logits).toHaveLength(vectors.tokens.length * config.vocabSize)
    for (const [position, row] of rows.entries()) {
      const expected = logits.subarray(position * config.vocabSize, (position + 1) * config.vocabSize)
      const logSum = Math.log(expected.reduce((sum, logit) => sum + Math.exp(logit), 0))
      row.forEach((logprob, token) => expect(Math.abs(logprob - (expected[token]! - logSum))).toBeLessThan(5e-5))
    }
  })

  it.each(Object.entries(vectors.refused))(
    'is refused where the engine would compute something else: %s',
    (name, saved) => {
      const config = name === 'embeddings' ? model : tied
      expect(() => adapterOfPeft(config, files(saved))).toThrow(unusable)
      expect(() => adapterOfPeft(config, files(saved))).toThrow(reasons[name])
    },
  )

  it('goes out and in again as the same bytes', () => {
    const targets = fc.subarray([...LoraTarget.options], { minLength: 1 })
    fc.assert(
      fc.property(targets, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 64 }), (targets, rank, alpha) => {
        const whole = recordedAdapter(model, rank, alpha)
        const names = loraShapes(model, { rank, targets })
        const tensors = new Map([...whole.tensors].filter(([name]) => names.has(name)))
        const bytes = writeAdapter(model, { ...whole, targets, tensors })
        const out = peftAdapter(bytes)
        const back = adapterOfPeft(model, out)
        expect(Buffer.compare(back, bytes)).toBe(0)
        expect(peftAdapter(back)).toEqual(out)
      }),
      { numRuns: 30 },
    )
  })
})

describe('a hostile adapter', () => {
  const good = peftAdapter(writeAdapter(model, recordedAdapter(model, 2, 4)))
  const described = JSON.parse(good.config) as Record<string, unknown>
  const load = (adapter: PeftAdapter) => adapterOfPeft(model, adapter)
  const saying = (change: Record<string, unknown>) => () =>
    load({ ...good, config: JSON.stringify({ ...described, ...change }) })
  const q = 'base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight'
  const holding = (change: (tensors: Map<string, { shape: readonly number[]; data: Float32Array }>) => void) => () => {
    const tensors = new Map(
      [...readSafetensors(good.weights).tensors].map(([name, tensor]) => [
        name,
        { shape: tensor.shape, data: toFloat32(name, tensor) },
      ]),
    )
    change(tensors)
    return load({ ...good, weights: writeSafetensors(tensors) })
  }

  it('is one only where something is wrong', () => {
    expect(saying({})).not.toThrow()
    expect(saying({ something_new: null, other_new: [], task_type: null })).not.toThrow()
    expect(holding(() => {})).not.toThrow()
  })

  it.each([
    [{ peft_type: 'IA3' }, /peft_type/],
    [{ r: 0 }, /r: /],
    [{ r: 1.5 }, /r: /],
    [{ r: '2' }, /r: /],
    [{ lora_alpha: 0 }, /lora_alpha/],
    [{ lora_alpha: 1e300 }, /lora_alpha/],
    [{ lora_alpha: null }, /lora_alpha/],
    [{ bias: 'all' }, /bias/],
    [{ use_dora: true }, /"use_dora"/],
    [{ use_rslora: true }, /"use_rslora"/],
    [{ modules_to_save: ['lm_head'] }, /"modules_to_save"/],
    [{ rank_pattern: { q_proj: 8 } }, /"rank_pattern"/],
    [{ alpha_pattern: { q_proj: 8 } }, /"alpha_pattern"/],
    [{ fan_in_fan_out: true }, /"fan_in_fan_out"/],
    [{ lora_bias: true }, /"lora_bias"/],
    [{ layer_replication: [[0, 1]] }, /"layer_replication"/],
    [{ trainable_token_indices: [1] }, /"trainable_token_indices"/],
    [{ init_lora_weights: 'pissa' }, /init_lora_weights/],
    [{ a_future_option: 1 }, /"a_future_option"/],
    [{ target_modules: ['q_proj', 'c_attn'] }, /"c_attn" has no weights/],
  ])('says %o: refused', (change, message) => {
    expect(saying(change)).toThrow(unusable)
    expect(saying(change)).toThrow(message)
  })

  it.each(['', '{', '[]', 'null', '3', '"LORA"'])('has the description %s: refused', (config) => {
    expect(() => load({ ...good, config })).toThrow(unusable)
  })

  it('is of another rank or another model', () => {
    expect(saying({ r: 3 })).toThrow(/rank and model ask for \[3, /)
    expect(saying({ r: 2 ** 40 })).toThrow(unusable)
    expect(() => adapterOfPeft({ ...model, hiddenSize: model.hiddenSize * 2 }, good)).toThrow(unusable)
    expect(() => adapterOfPeft({ ...model, layers: model.layers + 1 }, good)).toThrow(/is missing/)
    expect(() => adapterOfPeft({ ...model, layers: model.layers - 1 }, good)).toThrow(/belongs to no matrix/)
  })

  it('lacks a tensor, or has one too many, or one that is no number', () => {
    const one = { shape: [1], data: Float32Array.of(1) }
    expect(holding((tensors) => tensors.delete(q))).toThrow(/q_proj.lora_A.weight is missing/)
    expect(holding((tensors) => tensors.clear())).toThrow(unusable)
    expect(holding((tensors) => tensors.set('model.embed_tokens.weight', one))).toThrow(/is not under base_model/)
    expect(holding((tensors) => tensors.set('base_model.model.model.norm.weight', one))).toThrow(/belongs to no matrix/)
    expect(holding((tensors) => tensors.set('base_model.model.__proto__', one))).toThrow(unusable)
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(holding((tensors) => tensors.get(q)!.data.fill(value, 3, 4))).toThrow(`holds ${value} at element 3`)
    }
  })

  it('is cut short or damaged anywhere: a typed error, and never an adapter of other values', () => {
    fc.assert(
      fc.property(fc.nat(good.weights.length - 1), (length) => {
        const cut = good.weights.slice(0, length)
        expect(() => load({ ...good, weights: cut })).toThrow(
          expect.objectContaining({ code: 'model/malformed-safetensors' }),
        )
      }),
    )
  })
})

describe('a folder', () => {
  const root = mkdtempSync(join(tmpdir(), 'ratchet-peft-in-'))
  afterAll(() => rmSync(root, { recursive: true }))
  const good = peftAdapter(writeAdapter(model, recordedAdapter(model, 2, 4)))

  it('is read as it was written', async () => {
    const read = await readPeftFolder(await writePeftFolder(root, 'whole', () => Promise.resolve(good)))
    expect(read.config).toBe(good.config)
    expect(Buffer.compare(read.weights, good.weights)).toBe(0)
  })

  it.each<[string, (folder: string) => void]>([
    ['is not there', (folder) => rmSync(folder, { recursive: true })],
    ['is empty', () => {}],
    ['has no weights', (folder) => writeFileSync(join(folder, 'adapter_config.json'), good.config)],
    ['has a folder for a description', (folder) => mkdirSync(join(folder, 'adapter_config.json'))],
    ['has a pipe for a description', (folder) => execFileSync('mkfifo', [join(folder, 'adapter_config.json')])],
    [
      'has an endless description',
      (folder) => writeFileSync(join(folder, 'adapter_config.json'), ' '.repeat(2 ** 20 + 1)),
    ],
  ])('that %s is refused', async (_, spoil) => {
    const folder = mkdtempSync(join(root, 'bad-'))
    spoil(folder)
    await expect(readPeftFolder(folder)).rejects.toMatchObject({ code: 'model/unusable-peft-adapter' })
  })
})
