import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engineRows } from '../../../test/support/engine-rows.ts'
import { recorded, recordedAdapter, recordedModel, unpack } from '../../../test/support/recorded.ts'
import { sha256 } from '../../core/index.ts'
import { writeAdapter } from '../embedded/index.ts'
import type { TransformerConfig } from '../embedded/transformer/config.ts'
import { projections } from '../embedded/transformer/weights.ts'
import { readSafetensors } from '../embedded/load/safetensors.ts'
import { type AdapterWeights, loraShapes } from '../embedded/train/lora.ts'
import { type PeftAdapter, peftAdapter, writePeftFolder } from './peft-folder.ts'

/*
 * The vectors are what peft computes with the adapters as they are written here: scripts/vectors/peft_adapter.py says how they are
 * recorded. RATCHET_PEFT_FOLDER keeps the folders for it.
 */
interface Recorded {
  readonly sha256: { readonly config: string; readonly weights: string }
  readonly logits: string
}
const vectors = JSON.parse(readFileSync(new URL('vectors/peft.json', import.meta.url), 'utf8')) as {
  readonly tokens: readonly number[]
  readonly cases: Readonly<Record<string, Recorded>>
}
const { config: tied } = recorded('llama') as { config: TransformerConfig }

const cases: Readonly<Record<string, { readonly config: TransformerConfig; readonly adapter: AdapterWeights }>> = {
  projections: { config: tied, adapter: only(projections, recordedAdapter(tied, 4, 6)) },
  head: { config: { ...tied, tiedHead: false }, adapter: recordedAdapter({ ...tied, tiedHead: false }, 4, 8) },
}

/** The adapter without the pairs of other matrices. */
function only(targets: AdapterWeights['targets'], adapter: AdapterWeights): AdapterWeights {
  const names = loraShapes(tied, { rank: adapter.rank, targets })
  return { ...adapter, targets, tensors: new Map([...adapter.tensors].filter(([name]) => names.has(name))) }
}

let root: string
beforeAll(() => {
  root = process.env['RATCHET_PEFT_FOLDER'] ?? mkdtempSync(join(tmpdir(), 'ratchet-peft-'))
})
afterAll(() => {
  if (process.env['RATCHET_PEFT_FOLDER'] === undefined) rmSync(root, { recursive: true, force: true })
})

describe.each(Object.entries(cases))('an adapter over %s', (name, { config, adapter }) => {
  const bytes = writeAdapter(config, adapter)
  const read = (file: string) => readFileSync(join(root, name, file))

  it('is written as the files that peft has read', async () => {
    const folder = await writePeftFolder(root, name, () => Promise.resolve(peftAdapter(bytes)))
    expect(readdirSync(folder).toSorted()).toEqual(['adapter_config.json', 'adapter_model.safetensors'])
    const written = { config: sha256(read('adapter_config.json')), weights: sha256(read('adapter_model.safetensors')) }
    expect(written).toEqual(vectors.cases[name]?.sha256)
  })

  it('means to peft what it means to the engine', async () => {
    const { tokens } = vectors
    const logits = unpack(vectors.cases[name]?.logits ?? '')
    const [rows = []] = await engineRows({ model: recordedModel(config), adapter, sequences: [tokens] })
    expect(logits).toHaveLength(tokens.length * config.vocabSize)
    for (const [position, row] of rows.entries()) {
      const expected = logits.subarray(position * config.vocabSize, (position + 1) * config.vocabSize)
      const logSum = Math.log(expected.reduce((sum, logit) => sum + Math.exp(logit), 0))
      row.forEach((logprob, token) => expect(Math.abs(logprob - (expected[token]! - logSum))).toBeLessThan(5e-5))
    }
  })

  it('keeps every tensor under peft’s name', () => {
    const { tensors, metadata } = readSafetensors(peftAdapter(bytes).weights)
    expect([...tensors.keys()]).toEqual([...adapter.tensors.keys()].map((tensor) => `base_model.model.${tensor}`))
    expect(metadata).toEqual({ format: 'pt' })
  })
})

describe('a folder', () => {
  const adapter: PeftAdapter = { config: '{}', weights: Uint8Array.of(1) }

  it('is there in full or not at all, and is written once', async () => {
    const place = mkdtempSync(join(tmpdir(), 'ratchet-peft-'))
    const fails = writePeftFolder(place, 'a', () => Promise.resolve({ ...adapter, weights: null as never }))
    await expect(fails).rejects.toThrow()
    expect(readdirSync(place)).toEqual([])
    let made = 0
    const make = () => {
      made += 1
      return Promise.resolve(adapter)
    }
    const folders = await Promise.all(Array.from({ length: 4 }, () => writePeftFolder(place, 'a', make)))
    expect(new Set(folders)).toEqual(new Set([join(place, 'a')]))
    const before = made
    await writePeftFolder(place, 'a', make)
    expect(made).toBe(before)
    expect(readdirSync(place)).toEqual(['a'])
    rmSync(place, { recursive: true })
  })

  it('is made of adapters alone: weights that were trained in full have no such form', () => {
    const { config } = cases['projections']!
    const other = writeAdapter(config, cases['projections']!.adapter)
    expect(() => peftAdapter(other.slice(0, 40))).toThrow('safetensors')
    const whole = new TextEncoder().encode('{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'.padEnd(56))
    const file = new Uint8Array(8 + whole.length + 4)
    new DataView(file.buffer).setBigUint64(0, BigInt(whole.length), true)
    file.set(whole, 8)
    expect(() => peftAdapter(file)).toThrow(expect.objectContaining({ code: 'model/no-lora-adapter' }))
  })
})
