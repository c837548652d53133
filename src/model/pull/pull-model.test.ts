import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ModelHub } from '../../../test/support/model-hub.ts'
import { PullError } from './pull-error.ts'
import { pullModel, type PullOptions } from './pull-model.ts'

const weights = Uint8Array.from({ length: 100_000 }, (_, i) => (i * 31) % 251)
const files = {
  'config.json': '{"architectures":["LlamaForCausalLM"]}',
  'tokenizer.json': '{}',
  'README.md': '# A model',
  'model.safetensors': weights,
  'gguf/model.Q4_K_M.gguf': weights.subarray(0, 5_000),
  'big-00001-of-00002.gguf': weights.subarray(0, 9),
}

let hub: ModelHub
let folder: string

beforeEach(async () => {
  hub = await ModelHub.start()
  folder = await mkdtemp(join(tmpdir(), 'ratchet-pull-'))
  hub.putModel('owner/tiny', files)
})

afterEach(async () => {
  await hub.close()
  await rm(folder, { recursive: true })
})

const pull = (options: Partial<PullOptions> = {}) =>
  pullModel({
    name: 'owner/tiny',
    env: { HF_ENDPOINT: hub.url, RATCHET_MODELS: folder },
    patience: { tries: 4, baseDelayMs: 1 },
    ...options,
  })

async function failure(options: Partial<PullOptions> = {}): Promise<PullError> {
  const error: unknown = await pull(options).catch((caught: unknown) => caught)
  if (!(error instanceof PullError)) throw new Error('a PullError was expected', { cause: error })
  expect(error.hint).not.toBe('')
  return error
}

const asked = (ending: string) => hub.asked.filter(({ path }) => path.endsWith(ending))
const bytesOf = async (path: string) => new Uint8Array(await readFile(join(folder, path)))

describe('a model of a hub', () => {
  it('comes whole: what a model folder needs and nothing else', async () => {
    const seen: number[] = []
    const { reference, path, commit, use, licence } = await pull({ onProgress: ({ done }) => seen.push(done) })
    expect(reference).toBe('owner/tiny')
    expect(path).toBe(join(folder, 'owner', 'tiny'))
    expect(commit).toMatch(/^[0-9a-f]{40}$/)
    expect({ use, licence }).toEqual({ use: null, licence: null })
    expect((await readdir(path)).toSorted()).toEqual(['config.json', 'model.safetensors', 'tokenizer.json'])
    expect(await bytesOf('owner/tiny/model.safetensors')).toEqual(weights)
    expect(seen.at(-1)).toBe(files['config.json'].length + 2 + weights.length)
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  })

  it('is not fetched again where it is there, and mended where it is not as it should be', async () => {
    await pull()
    await writeFile(join(folder, 'owner/tiny/config.json'), 'other')
    hub.asked.length = 0
    await pull()
    expect(
      hub.asked.filter(({ path }) => path.includes('/resolve/')).map(({ path }) => path.split('/').at(-1)),
    ).toEqual(['config.json'])
    expect(await readFile(join(folder, 'owner/tiny/config.json'), 'utf8')).toBe(files['config.json'])
  })

  it('goes on where a connection was cut, within one pull', async () => {
    hub.fail('model.safetensors', { cutAfter: 40_000, times: 2 })
    await pull()
    expect(asked('model.safetensors').map(({ range }) => range)).toEqual([null, 'bytes=40000-', 'bytes=80000-'])
    expect(await bytesOf('owner/tiny/model.safetensors')).toEqual(weights)
  })

  it('goes on where another pull stopped', async () => {
    hub.fail('model.safetensors', { cutAfter: 30_000 })
    const stopped = await failure({ patience: { tries: 1, baseDelayMs: 1 } })
    expect(stopped.code).toBe('model/pull-unreachable')
    expect(await readdir(join(folder, 'owner/tiny'))).not.toContain('config.json')
    hub.fail('model.safetensors', {})
    hub.asked.length = 0
    await pull()
    expect(asked('model.safetensors').map(({ range }) => range)).toEqual(['bytes=30000-'])
    expect(await bytesOf('owner/tiny/model.safetensors')).toEqual(weights)
    expect((await readdir(join(folder, 'owner/tiny'))).every((name) => !name.endsWith('.part'))).toBe(true)
  })

  it('begins anew where a server gives no ranges', async () => {
    hub.fail('model.safetensors', { cutAfter: 40_000, times: 1, ignoresRanges: true })
    await pull()
    expect(await bytesOf('owner/tiny/model.safetensors')).toEqual(weights)
  })

  it('gives up after so many tries without progress', async () => {
    hub.fail('model.safetensors', { cutAfter: 0 })
    expect((await failure()).code).toBe('model/pull-unreachable')
    expect(asked('model.safetensors')).toHaveLength(4)
  })

  it.each(['model.safetensors', 'config.json'])('refuses other content of %s, and keeps none of it', async (file) => {
    const length = Buffer.from(files[file as 'config.json']).length
    hub.fail(file, { content: new Uint8Array(length).fill(120) })
    const error = await failure()
    expect(error.code).toBe('model/pull-checksum')
    expect(error.message).toContain(file)
    hub.fail(file, {})
    await pull()
    expect(await bytesOf(`owner/tiny/${file}`)).toEqual(new Uint8Array(Buffer.from(files[file as 'config.json'])))
  })

  it('refuses a file that does not end', async () => {
    hub.fail('model.safetensors', { content: new Uint8Array(200_000) })
    expect((await failure()).message).toMatch(/more than the 100000 bytes of the file/)
  })

  it('sends the token to the hub, and never to where it leads', async () => {
    const store = await ModelHub.start()
    hub.redirectFilesTo(store)
    hub.require('hf_secret')
    await pull({ env: { HF_ENDPOINT: hub.url, RATCHET_MODELS: folder, HF_TOKEN: 'hf_secret' } })
    expect(hub.asked.every(({ authorization }) => authorization === 'Bearer hf_secret')).toBe(true)
    expect(store.asked.length).toBeGreaterThan(0)
    expect(store.asked.every(({ authorization }) => authorization === null)).toBe(true)
    await store.close()
  })

  it('says what to do without a token, and what is not there', async () => {
    hub.require('hf_secret')
    const error = await failure()
    expect(error.code).toBe('model/pull-refused')
    expect(error.hint).toMatch(/HF_TOKEN/)
    const wrong = await failure({ env: { HF_ENDPOINT: hub.url, RATCHET_MODELS: folder, HF_TOKEN: 'wrong' } })
    expect(JSON.stringify([wrong.message, wrong.hint])).not.toContain('wrong')
    const other = await ModelHub.start()
    const env = { HF_ENDPOINT: other.url, RATCHET_MODELS: folder }
    expect((await failure({ env })).code).toBe('model/pull-not-found')
    await other.close()
    const silent = await failure({ env })
    expect(silent.code).toBe('model/pull-unreachable')
    expect(silent.hint).toMatch(/HF_ENDPOINT/)
  })

  it('tries again while a server is overloaded', async () => {
    hub.answer(503, 429, 500)
    await pull()
    hub.answer(503, 503, 503, 503)
    expect((await failure()).code).toBe('model/pull-unavailable')
  })

  it('fetches one GGUF file, and says which there are', async () => {
    const { reference, path } = await pull({ file: 'gguf/model.Q4_K_M.gguf' })
    expect(reference).toBe(join('owner', 'tiny', 'model.Q4_K_M.gguf'))
    expect(path).toBe(join(folder, reference))
    expect(await bytesOf(reference)).toEqual(files['gguf/model.Q4_K_M.gguf'])
    expect((await failure({ file: 'x.gguf' })).hint).toMatch(/gguf\/model\.Q4_K_M\.gguf/)
    expect((await failure({ file: 'big-00001-of-00002.gguf' })).message).toMatch(/one of several parts/)
    expect((await failure({ file: 'config.json' })).code).toBe('model/pull-no-model')
  })

  it('names the GGUF files of a repository without safetensors', async () => {
    hub.putModel('owner/only', { 'a.Q8_0.gguf': weights, 'README.md': 'x' })
    const error = await failure({ name: 'owner/only' })
    expect(error.message).toMatch(/no model\.safetensors/)
    expect(error.hint).toMatch(/--file: a\.Q8_0\.gguf/)
  })

  it('refuses names that are none', async () => {
    expect((await failure({ name: 'minlm' })).hint).toMatch(/language models smollm2-135m.*; sentence models minilm\./)
    for (const name of ['', 'nonsense', '../x/y', 'a/b/c', 'owner/../x', 'owner/tiny@', 'owner/tiny@../x'])
      expect((await failure({ name })).code).toBe('model/pull-no-model')
    expect(hub.asked).toEqual([])
  })

  it('refuses what is no hub', async () => {
    hub.put('/api/models/owner/tiny/revision/main', '<html>')
    expect((await failure()).code).toBe('model/pull-unusable-answer')
    expect((await failure({ env: { HF_ENDPOINT: 'ftp://x', RATCHET_MODELS: folder } })).code).toBe(
      'model/pull-no-model',
    )
  })
})
