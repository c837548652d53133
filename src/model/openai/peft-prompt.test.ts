import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { engineRows } from '../../../test/support/engine-rows.ts'
import { inProcessTrainer } from '../../../test/support/in-process-trainer.ts'
import { numbers, recorded, recordedModel, unpack } from '../../../test/support/recorded.ts'
import type { TransformerConfig } from '../embedded/transformer/config.ts'
import { readSafetensors, writeSafetensors } from '../embedded/load/safetensors.ts'
import { promptTensor, virtualTokens } from '../embedded/train/soft-prompt.ts'
import { readSoftPrompt, writeSoftPrompt } from '../embedded/train/soft-prompt-file.ts'
import { type PeftAdapter, peftAdapter } from './peft-folder.ts'
import { adapterOfPeft } from './peft-import.ts'
import { peftSoftPrompt } from './peft-prompt.ts'

/* A soft prompt that peft saved, with the logits that it computes: scripts/vectors/peft_prompt.py. */
const saved = JSON.parse(readFileSync(new URL('vectors/peft-prompt.json', import.meta.url), 'utf8')) as {
  readonly tokens: readonly number[]
  readonly config: string
  readonly weights: string
  readonly logits: string
}
const files: PeftAdapter = { config: saved.config, weights: new Uint8Array(Buffer.from(saved.weights, 'base64')) }
const { config } = recorded('llama') as { config: TransformerConfig }
const length = 5
const prompt = { length, values: numbers(7000, length * config.hiddenSize, 0.4) }

describe('a soft prompt that peft saved', () => {
  const logits = unpack(saved.logits)
  const expected = saved.tokens.map((_, position) => {
    const row = logits.subarray(position * config.vocabSize, (position + 1) * config.vocabSize)
    const logSum = Math.log(row.reduce((sum, logit) => sum + Math.exp(logit), 0))
    return Array.from(row, (logit) => logit - logSum)
  })
  const expectSame = (found: readonly number[], position: number) =>
    found.forEach((logprob, token) => expect(Math.abs(logprob - expected[position]![token]!)).toBeLessThan(2e-5))

  it('means to the sampler what it means to peft', async () => {
    const read = readSoftPrompt(config, adapterOfPeft(config, files))
    const sequences = [[...virtualTokens(config, read), ...saved.tokens]]
    const [rows = []] = await engineRows({ model: recordedModel(config), prompt: read, sequences })
    rows.slice(length).forEach(expectSame)
  })

  it('means to the trainer what it means to peft', async () => {
    const { values } = readSoftPrompt(config, adapterOfPeft(config, files))
    const { trainer } = inProcessTrainer({ model: recordedModel(config), trained: { kind: 'prompt', length }, values })
    const everyTarget = Array.from({ length: config.vocabSize }, (_, token) => ({
      input: saved.tokens,
      target: saved.tokens.map(() => token),
    }))
    const found = await trainer.forward(everyTarget)
    for (const position of saved.tokens.keys())
      expectSame(
        found.map((one) => one[position]!),
        position,
      )
  })

  it('goes out as the vectors that peft writes, and in again as the same bytes', () => {
    const bytes = writeSoftPrompt(config, prompt)
    const out = peftSoftPrompt(config, bytes)
    expect(readSafetensors(out.weights).tensors).toEqual(readSafetensors(files.weights).tensors)
    expect(JSON.parse(saved.config)).toMatchObject(JSON.parse(out.config))
    expect(adapterOfPeft(config, out)).toEqual(bytes)
  })

  it('is no LoRA for a server that loads those', () => {
    expect(() => peftAdapter(writeSoftPrompt(config, prompt))).toThrow(
      expect.objectContaining({ code: 'model/no-lora-adapter' }),
    )
  })
})

describe('a soft prompt of peft is refused', () => {
  const unusable = expect.objectContaining({ code: 'model/unusable-peft-adapter' })
  const described = JSON.parse(files.config) as Record<string, unknown>
  const say = (change: Record<string, unknown>) => JSON.stringify({ ...described, ...change })
  const holding = (name: string, shape: readonly number[], fill = 1) =>
    writeSafetensors(
      new Map([[name, { shape, data: new Float32Array(shape.reduce((size, one) => size * one, 1)).fill(fill) }]]),
    )
  const cases: Record<string, Partial<PeftAdapter>> = {
    'for an encoder and a decoder': { config: say({ num_transformer_submodules: 2 }) },
    'with modules of its own': { config: say({ modules_to_save: ['norm'] }) },
    'of another length': { config: say({ num_virtual_tokens: 6 }) },
    'of another width': { weights: holding(promptTensor, [length, 20]) },
    'without its tensor': { weights: holding('other', [length, config.hiddenSize]) },
    'that is no number': { weights: holding(promptTensor, [length, config.hiddenSize], Number.NaN) },
    'of another method of peft': { config: say({ peft_type: 'PREFIX_TUNING' }) },
  }
  it.each(Object.entries(cases))('%s', (_, change) => {
    expect(() => adapterOfPeft(config, { ...files, ...change })).toThrow(unusable)
  })
})
