import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { item } from '../../../test/support/memory-items.ts'
import { buildArchive } from '../../store/index.ts'
import { type Audience, rng, Tenant, VersionId } from '../../core/index.ts'
import { buildMemoryArchive, type MemoryArchive, openMemoryArchive } from './archive.ts'
import type { MemoryItem } from './item.ts'
import { lexicalEmbedder } from './lexical.ts'
import { memory, memoryKind } from './memory-kind.ts'
import type { MemoryMade } from './made.ts'
import { MemoryValue } from './value.ts'

let root: string
let opened: MemoryArchive[]
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'ratchet-archive-'))
  opened = []
})
afterEach(async () => {
  for (const archive of opened) archive.close()
  await rm(root, { recursive: true, force: true })
})

async function archiveOf(items: readonly MemoryItem[], tenant: Tenant | null = null): Promise<MemoryArchive> {
  const folder = join(root, `${opened.length}`)
  await buildMemoryArchive(folder, { items, tenant })
  const archive = await openMemoryArchive(folder)
  opened.push(archive)
  return archive
}

const [acme, other] = [Tenant.parse('acme'), Tenant.parse('other')]

/** What a memory with an archive recalls. */
async function recalled(
  query: string,
  {
    archives,
    items = [],
    tenant = acme,
  }: { archives: readonly MemoryArchive[]; items?: MemoryItem[]; tenant?: Tenant },
) {
  const value = MemoryValue.parse(memory({ archives, items, explore: 0 }).initial(() => ''))
  const made: MemoryMade[] = []
  const handle = handleOf(value, archives, { tenant, subject: null, at: 1_000 }, made)
  return { texts: (await handle.find(query)).map(({ text }) => text), made }
}

function handleOf(value: MemoryValue, archives: readonly MemoryArchive[], audience: Audience, made: MemoryMade[] = []) {
  const inForce = { version: VersionId.parse('0'.repeat(64)), generation: 1, checkpoint: null }
  const bound = { kind: 'memory', inForce, value, audience, rng: rng('recall') }
  return memoryKind(lexicalEmbedder(), archives).handle(bound, { decide: (one) => made.push(one.made) }, 'cases')
}

const kettle = item('a broken kettle')
const parcel = item('a lost parcel')

it('recalls from the archive beside its own items, and records it like one of them', async () => {
  const archives = [await archiveOf([kettle, item('a torn coat')])]
  const { texts, made } = await recalled('my kettle is broken', { archives, items: [item('a kettle that is broken')] })
  expect(texts.toSorted()).toEqual(['did a broken kettle', 'did a kettle that is broken'])
  expect(made).toMatchObject([{ did: 'recall', items: [{ shown: true }, { shown: true }] }])
})

it('recalls nothing where nothing is near', async () => {
  expect((await recalled('an opera', { archives: [await archiveOf([kettle, parcel])] })).texts).toEqual([])
})

it('takes its own copy of an item for it, also where that is recalled no more', async () => {
  const archives = [await archiveOf([kettle])]
  const copy = { ...kettle, supersededBy: parcel.id, until: 5 }
  expect((await recalled('a broken kettle', { archives, items: [copy] })).texts).toEqual([])
})

it.each([
  ['is trusted too little', { trust: 0.1 }],
  ['was superseded', { supersededBy: parcel.id }],
  ['holds later', { from: 2_000 }],
  ['has expired', { expires: 500 }],
])('recalls no item that %s', async (_, change) => {
  expect(
    (await recalled('a broken kettle', { archives: [await archiveOf([{ ...kettle, ...change }])] })).texts,
  ).toEqual([])
})

it("keeps a tenant's archive from others", async () => {
  const acmes = item('a broken kettle', { owner: { tenant: acme, about: null }, derivedFrom: [] })
  const archives = [await archiveOf([acmes], acme)]
  expect((await recalled('a broken kettle', { archives })).texts).toHaveLength(1)
  expect((await recalled('a broken kettle', { archives, tenant: other })).texts).toEqual([])
})

describe('refuses', () => {
  it.each([
    ['about a person', { owner: { tenant: acme, about: 'someone' }, derivedFrom: [] }, 'is about a person'],
    ['of another owner', { derivedFrom: [] }, 'belongs to nobody'],
    ["made from a tenant's sessions", { owner: { tenant: acme, about: null } }, 'was made from sessions'],
  ])('an item %s, and writes nothing', async (_, change, why) => {
    const fine = item('a broken kettle', { owner: { tenant: acme, about: null }, derivedFrom: [] })
    const items = [fine, item('a lost parcel', change)]
    await expect(buildMemoryArchive(join(root, 'mixed'), { items, tenant: acme })).rejects.toMatchObject({
      code: 'memory/not-archivable',
      message: expect.stringContaining(`Item 2 ${why}`) as string,
    })
    expect(await readdir(root)).toEqual([])
  })

  it('what is no item', async () => {
    const items = [{ ...kettle, trust: 2 }]
    await expect(buildMemoryArchive(join(root, 'bad'), { items })).rejects.toMatchObject({
      code: 'input/invalid',
      message: expect.stringContaining('item 1') as string,
    })
  })

  it('an archive of something else', async () => {
    const folder = join(root, 'rows')
    const rows = [{ key: 'k', text: 'a text', value: 1 }]
    await buildArchive(folder, { rows, about: 'numbers', embedder: lexicalEmbedder() })
    await expect(openMemoryArchive(folder)).rejects.toMatchObject({ code: 'memory/no-archive-of-items' })
  })

  it('an archive of another embedder', async () => {
    const archives = [await archiveOf([kettle])]
    expect(() => memory({ archives, embedder: lexicalEmbedder({ dimensions: 64 }) })).toThrow(/lexical-512/)
  })

  it('a memory whose archive is not given', async () => {
    const [first, second] = [await archiveOf([kettle]), await archiveOf([parcel])]
    const value = MemoryValue.parse(memory({ archives: [first] }).initial(() => ''))
    const handle = handleOf(value, [second], { tenant: acme, subject: null, at: 1_000 })
    await expect(handle.find('a broken kettle')).rejects.toMatchObject({ code: 'memory/no-archive' })
  })
})

it('recalls from several, and still serves Versions of an earlier one', async () => {
  const [earlier, later, more] = [await archiveOf([kettle]), await archiveOf([parcel]), await archiveOf([kettle])]
  expect((await recalled('a lost parcel', { archives: [later, more] })).texts).toEqual(['did a lost parcel'])
  const old = MemoryValue.parse(memory({ archives: [earlier] }).initial(() => ''))
  const now = memory({ archives: [later], earlierArchives: [earlier] })
  const audience = { tenant: acme, subject: null, at: 1_000 }
  expect(await handleOf(old, [later, earlier], audience).find('a broken kettle')).toHaveLength(1)
  expect(now.initial(() => '')).toMatchObject({ archives: [later.id] })
})

it('keeps what was learned in sight, however much is archived', async () => {
  const many = Array.from({ length: 60 }, (_, i) => item(`a broken kettle ${i}`))
  const own = item('a broken kettle of mine', { utility: 1 })
  const { texts } = await recalled('a broken kettle', { archives: [await archiveOf(many)], items: [own] })
  expect(texts).toContain(own.text)
})

it('recalls an item that several archives have once', async () => {
  const [one, other] = [await archiveOf([kettle]), await archiveOf([kettle, parcel])]
  expect((await recalled('a broken kettle', { archives: [one, other] })).texts).toEqual([kettle.text])
  expect(() => memory({ archives: [one, one] })).toThrow(/2 are given, 1 of them different/)
})

it('looks further where what is nearest does not count', async () => {
  const gone = Array.from({ length: 300 }, (_, i) => item(`a broken kettle ${i}`, { expires: 500 }))
  const archives = [await archiveOf([...gone, item('some broken kettle with a torn cable')])]
  expect((await recalled('a broken kettle', { archives })).texts).toEqual(['did some broken kettle with a torn cable'])
})

it('recalls nothing that is refused', async () => {
  const archive = await archiveOf([kettle])
  const value = MemoryValue.parse({
    ...(memory({ archives: [archive] }).initial(() => '') as object),
    refused: [kettle.id],
  })
  expect(await handleOf(value, [archive], { tenant: acme, subject: null, at: 1_000 }).find('a broken kettle')).toEqual(
    [],
  )
})
