import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { newFile } from './row-writer.ts'

const folder = mkdtempSync(join(tmpdir(), 'ratchet-rows-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('rows are lines of a file that only its owner reads', async () => {
  const path = join(folder, 'rows')
  const out = await newFile(path)
  for (let i = 0; i < 10_000; i++) await out.write({ i })
  await out.end()
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  expect(lines).toHaveLength(10_000)
  expect(lines.at(-1)).toBe('{"i":9999}')
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600)
})

it('no file is overwritten, and one that cannot be made is told of in words', async () => {
  const path = join(folder, 'there')
  writeFileSync(path, 'mine')
  await expect(newFile(path)).rejects.toMatchObject({
    code: 'input/unwritable-file',
    message: `There is something at ${path} already.`,
  })
  expect(readFileSync(path, 'utf8')).toBe('mine')
  await expect(newFile(join(folder, 'no', 'such'))).rejects.toMatchObject({ code: 'input/unwritable-file' })
})

it('half an export is taken back', async () => {
  const path = join(folder, 'half')
  const out = await newFile(path)
  await out.write({ i: 1 })
  await out.abandon()
  expect(existsSync(path)).toBe(false)
})
