import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '../../test/support/postgres.ts'
import type { Store } from '../core/index.ts'
import { CorruptBlobError, MissingBlobError } from './errors/index.ts'
import { openStore } from './open-store.ts'

let database: TestDatabase
let store: Store
beforeAll(async () => {
  database = await makeTestDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  store = await openStore({ url: database.url })
  await database.clear()
})
afterEach(() => store.close())

const mebibyte = 1024 * 1024
const chunks = async () => (await database.execute('select part from ratchet.blob_chunks order by part')).length

it.each([0, 1, 4 * mebibyte - 1, 4 * mebibyte, 4 * mebibyte + 1, 9 * mebibyte])('holds %i bytes', async (size) => {
  const bytes = randomBytes(size)
  const hash = await store.blobs.put(bytes)
  expect(bytes.equals(await store.blobs.get(hash))).toBe(true)
  expect(await chunks()).toBe(Math.ceil(size / (4 * mebibyte)))
})

it('takes the bytes of a view, and no others', async () => {
  const view = new Uint8Array(randomBytes(3_000).buffer, 16, 1_000)
  const hash = await store.blobs.put(view)
  expect(Buffer.from(await store.blobs.get(hash)).equals(view)).toBe(true)
})

it('is written once by all who write it at once', async () => {
  const other = await openStore({ url: database.url })
  const bytes = randomBytes(5 * mebibyte)
  const puts = [store, other, store, other].map(({ blobs }) => blobs.put(bytes))
  expect(new Set(await Promise.all(puts)).size).toBe(1)
  expect(await chunks()).toBe(2)
  await other.close()
})

it.each([
  ['changed', "update ratchet.blob_chunks set bytes = 'x' where part = 1"],
  ['gone', 'delete from ratchet.blob_chunks where part = 0'],
  ['doubled', 'insert into ratchet.blob_chunks select hash, 7, bytes from ratchet.blob_chunks where part = 1'],
  ['more', 'insert into ratchet.blob_chunks select hash, 2, bytes from ratchet.blob_chunks where part = 1'],
])('never gives out bytes that are %s; storing the right ones repairs them', async (_, damage) => {
  const bytes = randomBytes(6 * mebibyte)
  const hash = await store.blobs.put(bytes)
  await database.execute(damage)
  await expect(store.blobs.get(hash)).rejects.toThrow(CorruptBlobError)
  await store.blobs.put(bytes)
  expect(bytes.equals(await store.blobs.get(hash))).toBe(true)
  expect(await chunks()).toBe(2)
})

it('leaves nothing of a blob that was deleted, or half put', async () => {
  const hash = await store.blobs.put(randomBytes(6 * mebibyte))
  await store.blobs.delete(hash)
  expect(await chunks()).toBe(0)
  await expect(store.blobs.get(hash)).rejects.toThrow(MissingBlobError)

  await database.execute(`
    create function public.full() returns trigger language plpgsql as
      $$ begin if new.part = 1 then raise exception using errcode = '53100'; end if; return new; end $$;
    create trigger full_disk before insert on ratchet.blob_chunks for each row execute function public.full()`)
  await expect(store.blobs.put(randomBytes(6 * mebibyte))).rejects.toThrow('no space left')
  await database.execute('drop function public.full() cascade')
  expect(await chunks()).toBe(0)
  expect(await database.execute('select 1 from ratchet.blobs')).toEqual([])
})
