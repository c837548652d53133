import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { numbers } from '../../../test/support/recorded.ts'
import { writeTinyModel } from '../../../test/tiny/model.ts'
import { type BlobRef, mintVersion, type Store, type Version } from '../../core/index.ts'
import { type LoadedModel, loadModel, writeAdapter } from '../../model/embedded/index.ts'
import { Registry } from '../../release/index.ts'
import { openStore } from '../../store/index.ts'
import { adapterExportCommand } from './adapter.ts'

let root: string
let model: LoadedModel
let release: string
const tiny = () => join(root, 'tiny')
const store = () => join(root, 'store')

/** Pairs on the queries of the tiny model's two layers. */
function adapterBytes(): Uint8Array {
  const { config } = model.weights
  const tensors = [0, 1].flatMap((layer) => {
    const name = `model.layers.${layer}.self_attn.q_proj`
    return [
      [`${name}.lora_A.weight`, numbers(layer, 2 * config.hiddenSize, 0.3)],
      [`${name}.lora_B.weight`, numbers(layer + 9, 2 * config.hiddenSize, 0.3)],
    ] as const
  })
  return writeAdapter(config, { rank: 2, alpha: 4, targets: ['q'], tensors: new Map(tensors) })
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'ratchet-adapter-'))
  writeTinyModel(tiny())
  model = await loadModel(tiny())
  const opened = await openStore({ path: join(store(), 'ratchet.db'), thread: 'main' })
  const hash = await opened.blobs.put(adapterBytes())
  const uri = 'tinker://run-1/weights/weights-7'
  release = await declare(opened, 'greengrocer', weights('model', hash))
  await declare(opened, 'changed', weights('model', hash, 'other'))
  await declare(opened, 'fresh', weights('model', null))
  await declare(opened, 'away', weights('model', { at: 'trainer', uri }))
  await declare(opened, 'team', weights('planner', hash), weights('actor', null))
  await declare(opened, 'reader', mintVersion('system', { kind: 'text', text: 'Read.' }, { parents: [], run: null }))
  await opened.close()
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const weights = (parameter: string, adapter: BlobRef | null, baseHash = model.hash) =>
  mintVersion(parameter, { kind: 'weights', base: tiny(), baseHash, adapter }, { parents: [], run: null })
const declare = async (opened: Store, agent: string, ...versions: readonly Version[]) =>
  (await new Registry(opened).initial(agent, versions, 1)).id

type Flags = Parameters<typeof adapterExportCommand>[1]

/** What the command writes to standard output. */
async function says(name: string, flags: Flags): Promise<string> {
  let output = ''
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output += String(text)
    return true
  })
  try {
    await adapterExportCommand(join(root, name), { store: store(), ...flags })
    return stripVTControlCharacters(output)
  } finally {
    write.mockRestore()
  }
}

describe('ratchet adapter export', () => {
  it('writes what serves, and tells how far it is off', async () => {
    const told = await says('out', { agent: 'greengrocer' })
    expect(told).toContain(`The adapter "model" of greengrocer, release ${release}, is in ${join(root, 'out')}`)
    expect(told).toMatch(/\d+ tokens of 4 generated texts differ by at most 0 nats/)
    expect(readdirSync(join(root, 'out')).toSorted()).toEqual(['adapter_config.json', 'adapter_model.safetensors'])
  })

  it('tells machines the same, and calls the base model as it is told', async () => {
    const flags = { release, model: tiny(), baseName: 'house/tiny', json: true }
    expect(JSON.parse(await says('named', flags))).toMatchObject({
      agent: 'greengrocer',
      release,
      parameter: 'model',
      folder: join(root, 'named'),
      kind: 'lora',
      base: 'house/tiny',
      difference: 0,
      bound: 1e-6,
      texts: 'generated',
    })
    expect(readFileSync(join(root, 'named', 'adapter_config.json'), 'utf8')).toContain('"house/tiny"')
  })

  it('takes one of several weights', async () => {
    expect(await says('planner', { agent: 'team', parameter: 'planner' })).toContain('The adapter "planner" of team')
  })

  it.each<[string, Flags, string]>([
    ['which agent', {}, 'input/which-agent'],
    ['no such agent', { agent: 'nobody' }, 'release/unknown-agent'],
    ['no such release', { agent: 'team', release: 'none' }, 'release/unknown-release'],
    ['the base model as it is', { agent: 'fresh' }, 'input/no-adapter'],
    ['an adapter at its trainer', { agent: 'away' }, 'input/adapter-at-trainer'],
    ['several weights', { agent: 'team' }, 'input/which-weights'],
    ['no such weights', { agent: 'team', parameter: 'writer' }, 'input/which-weights'],
    ['an agent without weights', { agent: 'reader' }, 'input/which-weights'],
    ['another content of the base', { agent: 'changed' }, 'input/other-base'],
    ['no base model', { agent: 'greengrocer', model: '/nowhere' }, 'model/not-found'],
  ])('refuses %s', async (_, flags, code) => {
    const hint = expect.any(String) as string
    await expect(says('refused', flags)).rejects.toMatchObject({ code, hint })
    expect(existsSync(join(root, 'refused'))).toBe(false)
  })

  it('refuses a release of another agent', async () => {
    await expect(says('refused', { agent: 'team', release })).rejects.toMatchObject({ code: 'release/unknown-release' })
  })
})
