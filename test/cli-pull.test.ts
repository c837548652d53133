import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadModel } from '../src/model/index.ts'
import { packagedModels } from '../src/model/pull/known-models.ts'
import { writeGguf } from './support/gguf.ts'
import { ModelHub } from './support/model-hub.ts'
import { tinyGguf } from './support/tiny-gguf.ts'
import { ratchet, startRatchet } from './tiny/ratchet.ts'

const file = writeGguf(tinyGguf())

let hub: ModelHub
let folder: string

beforeEach(async () => {
  hub = await ModelHub.start()
  folder = mkdtempSync(join(tmpdir(), 'ratchet-cli-pull-'))
  hub.putModel('owner/tiny', { 'tiny.Q8_0.gguf': file, 'README.md': '' })
  process.env['HF_ENDPOINT'] = hub.url
  process.env['RATCHET_MODELS'] = folder
})

afterEach(async () => {
  await hub.close()
  rmSync(folder, { recursive: true })
  delete process.env['HF_ENDPOINT']
  delete process.env['RATCHET_MODELS']
})

const pull = ['pull', 'owner/tiny', '--file', 'tiny.Q8_0.gguf']

describe('ratchet pull', () => {
  it('fetches a model that then loads by its name', async () => {
    const { code, stdout } = await ratchet([...pull, '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ reference: 'owner/tiny/tiny.Q8_0.gguf' })
    for (const name of ['owner/tiny/tiny.Q8_0.gguf', 'owner/tiny']) {
      const model = await loadModel(name, folder)
      expect(model.name).toBe(name)
      expect(model.weights.config.layers).toBe(1)
    }
  })

  it('goes on after it was killed', async () => {
    hub.fail('.gguf', { cutAfter: 2_000, stalls: true, times: 1 })
    const { child, ended } = startRatchet(pull)
    await partOf(2_000)
    child.kill('SIGKILL')
    expect((await ended).code).toBeNull()
    expect(existsSync(join(folder, 'owner/tiny/tiny.Q8_0.gguf'))).toBe(false)
    expect((await ratchet(pull)).stdout).toContain('--model owner/tiny/tiny.Q8_0.gguf')
    expect(hub.asked.at(-1)?.range).toBe('bytes=2000-')
    expect(readFileSync(join(folder, 'owner/tiny/tiny.Q8_0.gguf')).equals(file)).toBe(true)
  })

  it('names in its help the models that it knows', async () => {
    const { stdout } = await ratchet(['pull', '--help'])
    for (const name of packagedModels.keys()) expect(stdout).toContain(name)
  })

  it('lists without a name what there is, and what each is for', async () => {
    const { code, stdout } = await ratchet(['pull'])
    expect(code).toBe(0)
    const [language = '', sentences = ''] = stdout.split('Sentence models')
    for (const [name, { use, about, licence }] of packagedModels) {
      const there = use === 'language' ? language : sentences
      for (const said of [name, about, licence]) expect(there).toContain(said)
    }
    const { models } = JSON.parse((await ratchet(['pull', '--json'])).stdout) as { models: unknown[] }
    expect(models).toContainEqual(expect.objectContaining({ name: 'minilm', use: 'sentences', bytes: 23_684_594 }))
  })

  it('is not done where only a folder is named', async () => {
    const { code, stderr } = await ratchet(['pull', '--to', folder])
    expect(code).toBe(1)
    expect(stderr).toContain('[model/pull-no-model]')
  })

  it('says what happened and what to do', async () => {
    hub.require('secret')
    const { code, stderr } = await ratchet(pull)
    expect(code).toBe(1)
    expect(stderr).toMatch(/status 401[^]*HF_TOKEN[^]*\[model\/pull-refused\]/)
    await expect(loadModel('owner/tiny', folder)).rejects.toThrow(/was not pulled/)
  })
})

/** Waits until so much of the file has come. */
async function partOf(bytes: number): Promise<void> {
  for (let i = 0; i < 600; i++) {
    const parts = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /-?\.gguf\..*\.part$/.test(path),
    )
    if (parts.some((path) => statSync(join(folder, path)).size >= bytes)) return
    await sleep(50)
  }
  throw new Error('nothing came')
}
