import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CorruptBlobError, StoreError } from './errors/index.ts'
import { fileBlobs, removeStaleBlobs } from './file-blobs.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-blobs-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const bytes = Buffer.from('an adapter')
const placeOf = (hash: string) => join(folder, hash.slice(0, 2), hash)

it('names a file by its hash, and leaves nothing else behind', async () => {
  const hash = await fileBlobs(folder).put(bytes)
  expect(existsSync(placeOf(hash))).toBe(true)
  expect(readdirSync(join(folder, 'incoming'))).toEqual([])
})

it('adopts a file that is there already', async () => {
  const hash = await fileBlobs(folder).put(bytes)
  const before = readdirSync(join(folder, hash.slice(0, 2)))
  expect(await fileBlobs(folder).put(bytes)).toBe(hash)
  expect(readdirSync(join(folder, hash.slice(0, 2)))).toEqual(before)
})

it('never gives out damaged bytes; storing the right ones repairs the file', async () => {
  const blobs = fileBlobs(folder)
  const hash = await blobs.put(bytes)
  writeFileSync(placeOf(hash), bytes.subarray(1))
  await expect(blobs.get(hash)).rejects.toThrow(CorruptBlobError)
  await blobs.put(bytes)
  expect(Buffer.from(await blobs.get(hash))).toEqual(bytes)
})

it('says what is in the way', async () => {
  writeFileSync(join(folder, 'file'), '')
  await expect(fileBlobs(join(folder, 'file')).put(bytes)).rejects.toThrow(StoreError)
})

it('removes what dead processes left, and not what is being written', async () => {
  mkdirSync(join(folder, 'incoming'))
  for (const name of ['old', 'young']) writeFileSync(join(folder, 'incoming', name), 'half')
  utimesSync(join(folder, 'incoming', 'old'), 1, 1)
  await removeStaleBlobs(folder, Date.now())
  expect(readdirSync(join(folder, 'incoming'))).toEqual(['young'])
  await removeStaleBlobs(join(folder, 'nowhere'), Date.now())
})
