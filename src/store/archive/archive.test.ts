import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dot, type Embedder, rng, unit } from '../../core/index.ts'
import { buildArchive } from './build-archive.ts'
import { openArchive } from './open-archive.ts'
import { files } from './manifest.ts'
import type { ArchiveRow } from './write-rows.ts'

const dimensions = 32
const chance = rng('archive')
const normal = () => Math.sqrt(-2 * Math.log(1 - chance.next())) * Math.cos(2 * Math.PI * chance.next())
const random = () => unit(Float32Array.from({ length: dimensions }, normal))

/** Gives each text a vector of its own; an empty text says nothing. */
const vectors = new Map<string, Float32Array>([['', new Float32Array(dimensions)]])
const vectorOf = (text: string) => {
  const vector = vectors.get(text) ?? random()
  vectors.set(text, vector)
  return vector
}
const embedder: Embedder = {
  name: 'drawn',
  dimensions,
  costly: false,
  embed: (texts) => Promise.resolve(texts.map(vectorOf)),
}
const rowsOf = (count: number): ArchiveRow[] =>
  Array.from({ length: count }, (_, i) => ({ key: `k${i}`, text: `text ${i}`, value: { i } }))

let root: string
let folder: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'ratchet-archive-'))
  folder = join(root, 'archive')
})
afterEach(() => rm(root, { recursive: true, force: true }))

it('finds nearly all that comparing with each row would, the nearest first', async () => {
  const rows = rowsOf(3_000)
  const progress: number[] = []
  const built = await buildArchive(folder, {
    rows,
    embedder,
    about: 'rows',
    onProgress: (told) => progress.push(told.rows),
  })
  expect(built).toMatchObject({ size: 3_000, left: { sameKey: 0, noVector: 0 } })
  expect(progress).toEqual([1_000, 2_000, 3_000])
  const archive = await openArchive(folder)
  let there = 0
  for (let asked = 0; asked < 50; asked++) {
    const query = random()
    const right = rows
      .map(({ key, text }) => ({ key, similarity: dot(query, vectorOf(text)) }))
      .toSorted((a, b) => b.similarity - a.similarity)
      .slice(0, 10)
    const near = [...archive.nearest(query, 10, -1)]
    expect(near.map(({ similarity }) => similarity)).toEqual(
      near.map(({ similarity }) => similarity).toSorted((a, b) => b - a),
    )
    expect(near[0]?.similarity).toBeCloseTo(dot(query, vectorOf(`text ${near[0]?.key.slice(1)}`)), 4)
    there += near.filter(({ key }) => right.some((one) => one.key === key)).length
  }
  expect(there).toBeGreaterThan(0.95 * 500)
  archive.close()
})

it('gives what was stored, and leaves out what is below the floor', async () => {
  await buildArchive(folder, { rows: rowsOf(20), embedder, about: 'rows' })
  const archive = await openArchive(folder)
  expect(archive).toMatchObject({ size: 20, embedder: { name: 'drawn', dimensions } })
  expect(archive.get('k7')).toEqual({ i: 7 })
  expect(archive.get('k99')).toBeNull()
  expect([...archive.nearest(vectorOf('text 7'), 5, 0.99)]).toEqual([
    { key: 'k7', value: { i: 7 }, similarity: expect.closeTo(1, 6) },
  ])
  archive.close()
})

it('keeps the first of equal keys, leaves out what says nothing, and says how many', async () => {
  async function* streamed() {
    yield* rowsOf(3)
    yield { key: 'k1', text: 'other', value: 'other' }
    yield { key: 'empty', text: '', value: null }
  }
  const built = await buildArchive(folder, { rows: streamed(), embedder, about: 'rows' })
  expect(built).toMatchObject({ size: 3, left: { sameKey: 1, noVector: 1 } })
  const archive = await openArchive(folder)
  expect(archive.get('k1')).toEqual({ i: 1 })
  archive.close()
})

it('has one address for equal rows, and another for others', async () => {
  const ids = []
  for (const [i, rows] of [rowsOf(5), rowsOf(5), rowsOf(6)].entries()) {
    ids.push((await buildArchive(join(root, `${i}`), { rows, embedder, about: 'rows' })).id)
  }
  expect(ids[0]).toMatch(/^[0-9a-f]{64}$/)
  expect(ids[1]).toBe(ids[0])
  expect(ids[2]).not.toBe(ids[0])
})

describe('what cannot be built leaves nothing behind', () => {
  it('rows that end in an error', async () => {
    async function* broken() {
      yield* rowsOf(1_500)
      throw new Error('cut')
    }
    await expect(buildArchive(folder, { rows: broken(), embedder, about: 'rows' })).rejects.toThrow('cut')
    expect(await readdir(root)).toEqual([])
  })

  it('a file that the rows are read from, whose error stays its own', async () => {
    async function* missing() {
      yield* rowsOf(2)
      await readFile(join(root, 'none'))
    }
    await expect(buildArchive(folder, { rows: missing(), embedder, about: 'rows' })).rejects.toMatchObject({
      code: 'ENOENT',
    })
    expect(await readdir(root)).toEqual([])
  })

  it('vectors that are no numbers', async () => {
    const broken = { ...embedder, embed: async () => [new Float32Array(dimensions).fill(Number.NaN)] }
    await expect(buildArchive(folder, { rows: rowsOf(1), embedder: broken, about: 'rows' })).rejects.toMatchObject({
      code: 'store/archive-rows',
    })
  })

  it('no rows', async () => {
    await expect(buildArchive(folder, { rows: [], embedder, about: 'rows' })).rejects.toMatchObject({
      code: 'store/archive-rows',
    })
    expect(await readdir(root)).toEqual([])
  })

  it('vectors of another size', async () => {
    const other = { ...embedder, dimensions: 16 }
    await expect(buildArchive(folder, { rows: rowsOf(2), embedder: other, about: 'rows' })).rejects.toMatchObject({
      code: 'store/archive-rows',
      message: expect.stringContaining('vectors of 16 numbers, and one has 32'),
    })
    expect(await readdir(root)).toEqual([])
  })

  it('a folder that is there, which stays as it is', async () => {
    await buildArchive(folder, { rows: rowsOf(2), embedder, about: 'rows' })
    const before = await readFile(join(folder, files.manifest), 'utf8')
    await expect(buildArchive(folder, { rows: rowsOf(3), embedder, about: 'rows' })).rejects.toMatchObject({
      code: 'store/archive-exists',
    })
    expect(await readFile(join(folder, files.manifest), 'utf8')).toBe(before)
  })

  it('a place that takes no folder', async () => {
    await writeFile(folder, '')
    await expect(
      buildArchive(join(folder, 'below'), { rows: rowsOf(2), embedder, about: 'rows' }),
    ).rejects.toMatchObject({
      code: 'store/archive-unwritable',
    })
  })
})

it('is closed once, and says so to who goes on', async () => {
  await buildArchive(folder, { rows: rowsOf(3), embedder, about: { rows: 'of a test' } })
  const archive = await openArchive(folder)
  expect(archive.about).toEqual({ rows: 'of a test' })
  archive.close()
  archive.close()
  expect(() => archive.get('k1')).toThrow(/is closed/)
  expect(() => [...archive.nearest(vectorOf('text 1'), 1, -1)]).toThrow(/is closed/)
})

describe('what cannot be opened', () => {
  it.each(['rows', 'vectors', 'index'] as const)('%s that were cut', async (file) => {
    await buildArchive(folder, { rows: rowsOf(50), embedder, about: 'rows' })
    await truncate(join(folder, files[file]), 100)
    await expect(openArchive(folder)).rejects.toMatchObject({ code: 'store/archive-unreadable' })
  })

  it('an index of as many bytes that is none', async () => {
    await buildArchive(folder, { rows: rowsOf(50), embedder, about: 'rows' })
    const { length } = await readFile(join(folder, files.index))
    await writeFile(join(folder, files.index), new Uint8Array(length))
    await expect(openArchive(folder)).rejects.toMatchObject({ code: 'store/archive-unreadable' })
  })

  it('a manifest of another format', async () => {
    await buildArchive(folder, { rows: rowsOf(2), embedder, about: 'rows' })
    await writeFile(join(folder, files.manifest), '{"format":2}')
    await expect(openArchive(folder)).rejects.toMatchObject({ code: 'store/archive-unreadable' })
  })

  it('a folder without an archive', async () => {
    await expect(openArchive(root)).rejects.toMatchObject({ code: 'store/archive-missing' })
  })
})
