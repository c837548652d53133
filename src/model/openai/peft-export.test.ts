import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { numbers } from '../../../test/support/recorded.ts'
import { writeTinyModel } from '../../../test/tiny/model.ts'
import { type EmbeddedEngine, openEmbeddedEngine } from '../embedded/engine.ts'
import { loadModel } from '../embedded/load/load-model.ts'
import type { LoadedModel } from '../embedded/load/loaded-model.ts'
import { writeSafetensors } from '../embedded/load/safetensors.ts'
import { writeAdapter } from '../embedded/train/adapter-file.ts'
import { initialAdapter, loraShapes } from '../embedded/train/lora.ts'
import { writeSoftPrompt } from '../embedded/train/soft-prompt-file.ts'
import { exportPeft, planExport, writeVerified } from './peft-export.ts'
import { peftAdapter } from './peft-folder.ts'
import { adapterOfPeft, readPeftFolder } from './peft-import.ts'
import { peftSoftPrompt } from './peft-prompt.ts'

const lora = { rank: 4, alpha: 8, targets: ['q', 'v', 'down'] } as const
let root: string
let model: LoadedModel
let engine: EmbeddedEngine
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'ratchet-peft-export-'))
  writeTinyModel(join(root, 'tiny'))
  model = await loadModel(join(root, 'tiny'))
  engine = await openEmbeddedEngine({ model: model.weights, decode: () => '', deterministic: true })
})
afterAll(async () => {
  await engine.close()
  rmSync(root, { recursive: true, force: true })
})

let place: string
let folder: string
beforeEach(() => {
  place = mkdtempSync(join(root, 'case-'))
  folder = join(place, 'out')
})

/** A LoRA of pseudo-random values. */
function adapterOf(seed: number): Uint8Array {
  const { config } = model.weights
  const tensors = [...loraShapes(config, lora)].map(
    ([name, shape], i) =>
      [
        name,
        numbers(
          seed + i,
          shape.reduce((product, size) => product * size, 1),
          0.2,
        ),
      ] as const,
  )
  return writeAdapter(config, { ...lora, tensors: new Map(tensors) })
}
const softPrompt = () => {
  const { config } = model.weights
  return writeSoftPrompt(config, { length: 3, values: numbers(3, 3 * config.hiddenSize, 0.4) })
}

describe('an export', () => {
  it.each([
    ['a LoRA', () => adapterOf(1), 'lora', 'LORA'],
    ['a soft prompt', softPrompt, 'soft-prompt', 'PROMPT_TUNING'],
  ])('of %s is what peft loads, and says what the adapter says', async (_, made, kind, type) => {
    const adapter = made()
    const told = await exportPeft({ model, adapter, folder, base: 'house/tiny' })
    expect(told).toMatchObject({ folder, kind, base: 'house/tiny', sequences: 4, difference: 0 })
    expect(told.compared).toBeGreaterThan(40)
    expect(told.effect).toBeGreaterThan(0.1)
    expect(readdirSync(place)).toEqual(['out'])
    expect(readdirSync(folder).toSorted()).toEqual(['adapter_config.json', 'adapter_model.safetensors'])
    const description: unknown = JSON.parse(readFileSync(join(folder, 'adapter_config.json'), 'utf8'))
    expect(description).toMatchObject({ peft_type: type, base_model_name_or_path: 'house/tiny' })
    const back = adapterOfPeft(model.weights.config, await readPeftFolder(folder))
    expect(Buffer.compare(back, adapter)).toBe(0)
  })

  it('is compared on the sequences that are given, as far as the context reaches', async () => {
    const sequences = [[1, 2, 3, 4], [9], Array.from({ length: 400 }, (_, i) => i % 200)]
    const told = await exportPeft({ model, adapter: adapterOf(1), folder, sequences })
    expect(told).toMatchObject({ base: 'tiny', sequences: 2, compared: 3 + 255, difference: 0 })
  })

  it('of an adapter that changes nothing says so', async () => {
    const { config } = model.weights
    const adapter = writeAdapter(config, initialAdapter(config, lora, 1))
    expect(await exportPeft({ model, adapter, folder })).toMatchObject({ difference: 0, effect: 0 })
  })
})

describe('an export that says something else', () => {
  const planned = async () => planExport({ model, adapter: adapterOf(1), folder, sequences: [[1, 2, 3]] })

  it.each([
    ['another adapter', () => peftAdapter(adapterOf(2))],
    ['an adapter that is a little off', () => peftAdapter(nudged(adapterOf(1)))],
    ['a soft prompt', () => peftSoftPrompt(model.weights.config, softPrompt())],
  ])('since what lies on the disk is %s fails and leaves nothing', async (_, files) => {
    const differs = writeVerified(engine, { ...(await planned()), files: files() })
    await expect(differs).rejects.toMatchObject({ code: 'model/peft-export-differs' })
    expect(readdirSync(place)).toEqual([])
    await expect(writeVerified(engine, await planned())).resolves.toMatchObject({ difference: 0 })
  })

  it('or cannot be read fails and leaves nothing', async () => {
    const { config, weights } = peftAdapter(adapterOf(1))
    const cut = writeVerified(engine, { ...(await planned()), files: { config, weights: weights.slice(0, -1) } })
    await expect(cut).rejects.toMatchObject({ code: 'model/malformed-safetensors' })
    const undescribed = writeVerified(engine, { ...(await planned()), files: { config: '{}', weights } })
    await expect(undescribed).rejects.toMatchObject({ code: 'model/unusable-peft-adapter' })
    expect(readdirSync(place)).toEqual([])
  })

  it('is also one whose log-probabilities are no numbers', async () => {
    const logprobs = Float64Array.of(Number.NaN, -1)
    const read = async () => ({ logprobs, neighbours: [], states: new Float32Array() })
    const differs = writeVerified({ ...engine, datastores: { read } }, await planned())
    await expect(differs).rejects.toMatchObject({ code: 'model/peft-export-differs' })
    expect(readdirSync(place)).toEqual([])
  })
})

/** An adapter with a thousandth on top of its last value. */
function nudged(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice()
  const view = new DataView(copy.buffer)
  view.setFloat32(copy.length - 4, view.getFloat32(copy.length - 4, true) + 1e-3, true)
  return copy
}

describe('an export is refused', () => {
  const exported = (adapter: Uint8Array, to = folder) => exportPeft({ model, adapter, folder: to })

  it.each([
    ['there is a folder', () => mkdirSync(folder)],
    ['there is a file', () => writeFileSync(folder, 'mine')],
  ])('where %s of that name', async (_, take) => {
    take()
    await expect(exported(adapterOf(1))).rejects.toMatchObject({ code: 'model/unwritable-peft-folder' })
    expect(readdirSync(place)).toEqual(['out'])
  })

  it('where no folder is above it, and where something comes to its place meanwhile', async () => {
    const refused = { code: 'model/unwritable-peft-folder', hint: expect.any(String) as string }
    await expect(exported(adapterOf(1), join(folder, 'deeper'))).rejects.toMatchObject(refused)
    const planned = await planExport({ model, adapter: adapterOf(1), folder })
    mkdirSync(folder)
    writeFileSync(join(folder, 'mine'), 'mine')
    await expect(writeVerified(engine, planned)).rejects.toMatchObject(refused)
    expect(readdirSync(place)).toEqual(['out'])
    expect(readdirSync(folder)).toEqual(['mine'])
  })

  it('of weights that were trained in full, of another model’s, and of what is no adapter', async () => {
    const one = { shape: [1], data: Float32Array.of(1) }
    const { config } = model.weights
    const wider = { ...config, hiddenSize: 2 * config.hiddenSize }
    const full = writeSafetensors(new Map([['model.norm.weight', one]]))
    await expect(exported(full)).rejects.toMatchObject({ code: 'model/no-lora-adapter' })
    const other = writeAdapter(wider, initialAdapter(wider, lora, 1))
    await expect(exported(other)).rejects.toMatchObject({ code: 'model/state-mismatch' })
    const prompt = writeSoftPrompt(wider, { length: 2, values: new Float32Array(2 * wider.hiddenSize) })
    await expect(exported(prompt)).rejects.toMatchObject({ code: 'model/state-mismatch' })
    await expect(exported(Uint8Array.of(1, 2, 3))).rejects.toMatchObject({ code: 'model/malformed-safetensors' })
    expect(readdirSync(place)).toEqual([])
  })
})
