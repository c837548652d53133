import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { announceWriter, lockForWriting, writerOf } from './writer-lock.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-writer-'))
  path = join(folder, 'ratchet.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const url = 'http://127.0.0.1:4321'

it('a writer is known while it writes, and where it answers once it says so', async () => {
  expect(writerOf(path)).toBeNull()
  const lock = await lockForWriting(path)
  expect(writerOf(path)).toMatchObject({ pid: process.pid })
  expect(writerOf(path)?.url).toBeUndefined()
  announceWriter(path, url)
  expect(writerOf(path)).toMatchObject({ pid: process.pid, url })
  lock.release()
  expect(writerOf(path)).toBeNull()
})

it('a process that was killed is nobody, though its note is there', () => {
  const { pid } = spawnSync(process.execPath, ['-e', ''])
  writeFileSync(`${path}.writer`, JSON.stringify({ pid, host: hostname(), since: 1, url }))
  expect(writerOf(path)).toBeNull()
})

it.each([
  ['of another machine', { pid: process.pid, host: 'elsewhere', since: 1, url }],
  ['that is no note', 'x'],
  ['whose address is none', { pid: process.pid, host: hostname(), since: 1, url: 'x' }],
])('a note %s names nobody', (_, note) => {
  writeFileSync(`${path}.writer`, JSON.stringify(note))
  expect(writerOf(path)).toBeNull()
})

it('nobody announces itself in the place of another', () => {
  const note = JSON.stringify({ pid: process.pid + 1, host: hostname(), since: 1 })
  writeFileSync(`${path}.writer`, note)
  announceWriter(path, url)
  expect(readFileSync(`${path}.writer`, 'utf8')).toBe(note)
})
