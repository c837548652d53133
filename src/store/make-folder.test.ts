import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeFolder } from './make-folder.ts'

let home: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'ratchet-folder-'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

it('makes a folder with those above it, and leaves one that is there', async () => {
  const folder = join(home, 'a', 'b', 'c')
  await makeFolder(folder)
  await makeFolder(folder)
  expect(statSync(folder).isDirectory()).toBe(true)
})

it('two at once make one', async () => {
  const folder = join(home, 'x', 'y', 'z')
  await Promise.all([makeFolder(folder), makeFolder(folder), makeFolder(join(home, 'x', 'y'))])
  expect(statSync(folder).isDirectory()).toBe(true)
})

it('says so where a file stands in its way, or a link to nowhere', async () => {
  writeFileSync(join(home, 'file'), '')
  symlinkSync(join(home, 'nowhere'), join(home, 'link'))
  await expect(makeFolder(join(home, 'file'))).rejects.toMatchObject({ code: 'EEXIST' })
  await expect(makeFolder(join(home, 'file', 'a'))).rejects.toMatchObject({ code: 'ENOTDIR' })
  await expect(makeFolder(join(home, 'link'))).rejects.toThrow()
})

it.runIf(process.platform === 'linux')('ends where no folder can be made', async () => {
  await expect(makeFolder('/proc/ratchet/store')).rejects.toMatchObject({ code: 'ENOENT' })
})
