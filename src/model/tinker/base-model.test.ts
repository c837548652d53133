import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { writeGguf } from '../../../test/support/gguf.ts'
import { tinyGguf } from '../../../test/support/tiny-gguf.ts'
import { loadModel } from '../embedded/load/load-model.ts'
import { rendererFor } from '../renderer/renderer-for.ts'
import { readBaseModel } from './base-model.ts'

let folder: string
let file: string
beforeAll(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'ratchet-base-')), 'pulled')
  await mkdir(folder)
  file = join(folder, 'made.gguf')
  await writeFile(file, writeGguf(tinyGguf()))
})
afterAll(() => rm(join(folder, '..'), { recursive: true }))

it('a GGUF file says of a model at a server what the engine reads of it here', async () => {
  const loaded = await loadModel(file)
  const base = await readBaseModel(file, 'pulled', 'template')
  expect(base).toMatchObject({ vocabularySize: 10, contextLength: 64 })
  expect(base.tokenizer.encode('low lower')).toEqual(loaded.tokenizer.encode('low lower'))
  const here = rendererFor(loaded, 'template')
  const said = [{ role: 'user', content: 'low' }] as const
  expect(base.renderer.start(said, [])).toEqual(here.start(said, []))
  expect(base.renderer.stop).toEqual(here.stop)
  expect((await readBaseModel(folder, 'pulled', 'template')).hash).toBe(base.hash)
  expect((await readBaseModel(file, 'other', 'template')).hash).not.toBe(base.hash)
})

it('weights are not read', async () => {
  const { metadata, tensors } = tinyGguf()
  const whole = writeGguf({ metadata, tensors })
  await writeFile(file, whole)
  const { hash } = await readBaseModel(file, 'pulled', 'template')
  const other = Uint8Array.from(whole)
  other.fill(7, whole.length - 64)
  await writeFile(file, other)
  expect((await readBaseModel(file, 'pulled', 'template')).hash).toBe(hash)
})

it('what is neither is said', async () => {
  await expect(readBaseModel(join(folder, 'nothing'), 'tiny', 'template')).rejects.toMatchObject({
    code: 'model/not-found',
    hint: expect.stringContaining('GGUF') as string,
  })
  const text = join(folder, 'text.txt')
  await writeFile(text, 'no model')
  await expect(readBaseModel(text, 'tiny', 'template')).rejects.toMatchObject({ code: 'model/malformed-gguf' })
})
