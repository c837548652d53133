import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { newKey } from '../gateway/auth/index.ts'
import { LockedStoreError, openStore } from '../store/index.ts'
import { traffic } from '../store/traffic.conformance.ts'
import { moveStoreAside } from './new-store.ts'

let parent: string
let folder: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'ratchet-new-'))
  folder = join(parent, 'store')
})
afterEach(() => rmSync(parent, { recursive: true }))

const aside = (store: string) => moveStoreAside({ path: join(store, 'ratchet.db') })
const path = () => join(folder, 'ratchet.db')

it('moves nothing where there is nothing', async () => {
  expect(await aside(folder)).toBeNull()
  mkdirSync(folder)
  expect(await aside(folder)).toBeNull()
})

it('moves a store to the first free name', async () => {
  for (const n of [1, 2]) {
    await (await openStore({ path: path() })).close()
    expect(await aside(folder)).toBe(`${folder}.${n}`)
    expect(existsSync(join(`${folder}.${n}`, 'ratchet.db'))).toBe(true)
    expect(existsSync(folder)).toBe(false)
  }
})

it('does not move what a gateway recorded, nor its keys', async () => {
  const store = await openStore({ path: path() })
  const { key } = newKey({ name: 'k', tenant: 'default', scopes: ['infer'], now: 1 })
  await store.keys.put(key)
  await store.close()
  await expect(aside(folder)).rejects.toMatchObject({ code: 'input/store-holds-traffic' })
  const other = join(parent, 'other')
  const recording = await openStore({ path: join(other, 'ratchet.db') })
  await recording.traffic.append(traffic.call('t1', 'c1'))
  await recording.close()
  await expect(aside(other)).rejects.toMatchObject({ code: 'input/store-holds-traffic' })
  expect(existsSync(join(other, 'ratchet.db'))).toBe(true)
})

it('moves a store that is damaged', async () => {
  mkdirSync(folder)
  writeFileSync(path(), 'this is not a database, and long enough to be taken for one'.repeat(100))
  expect(await aside(folder)).toBe(`${folder}.1`)
})

it('does not move a store that is written, nor what is no store', async () => {
  const store = await openStore({ path: path() })
  await expect(aside(folder)).rejects.toThrow(LockedStoreError)
  await store.close()
  expect(existsSync(path())).toBe(true)

  const thesis = join(parent, 'documents', 'thesis.txt')
  mkdirSync(join(parent, 'documents'))
  writeFileSync(thesis, 'years of work')
  await expect(aside(join(parent, 'documents'))).rejects.toMatchObject({ code: 'input/not-a-store' })
  expect(readFileSync(thesis, 'utf8')).toBe('years of work')
})

it('refuses a file, and a trailing slash does not move a store into itself', async () => {
  await (await openStore({ path: path() })).close()
  expect(await aside(`${folder}/`)).toBe(`${folder}.1`)
  writeFileSync(folder, 'a file')
  await expect(aside(folder)).rejects.toThrow('is a file: it is not moved aside')
  expect(readFileSync(folder, 'utf8')).toBe('a file')
})
