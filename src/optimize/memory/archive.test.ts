import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { experience, item } from '../../../test/support/memory-items.ts'
import {
  buildMemoryArchive,
  type Experience,
  lexicalEmbedder,
  memory,
  type MemoryArchive,
  type MemoryItem,
  MemoryValue,
  openMemoryArchive,
} from '../../agent/index.ts'
import { rng, type Seat, VersionId } from '../../core/index.ts'
import { caseUtility, type CaseUtilityOptions } from './case-utility.ts'

const kettle = item('a broken kettle', { utility: 0.5 })
const parcel = item('a lost parcel', { utility: 0.1 })
const harmful = item('a torn coat')
const expired = item('a late ferry', {}, { until: 5 })

let root: string
let archive: MemoryArchive
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'ratchet-archive-'))
  await buildMemoryArchive(join(root, 'archive'), { items: [kettle, parcel, harmful, expired] })
  archive = await openMemoryArchive(join(root, 'archive'))
})
afterAll(async () => {
  archive.close()
  await rm(root, { recursive: true, force: true })
})

const seatOf = (archives: readonly MemoryArchive[], items: readonly MemoryItem[] = []): Seat<MemoryValue> => ({
  parameter: 'cases',
  version: VersionId.parse('0'.repeat(64)),
  value: MemoryValue.parse(memory({ archives, items }).initial(() => '')),
  rng: (...key) => rng('seat', ...key),
  evaluate: null,
})

/** A session of learning on a memory that recalls from the archive, and what it proposes in the end. */
async function learned(
  steps: readonly (readonly Experience[])[],
  { items = [], ...options }: CaseUtilityOptions & { items?: MemoryItem[] } = {},
) {
  const learning = await caseUtility({ archives: [archive], ...options }).open(seatOf([archive], items), null)
  for (const [update, experiences] of steps.entries()) await learning.step(experiences, update)
  return MemoryValue.parse(await learning.propose())
}

const recalled = ({ id }: MemoryItem) => [{ id, similarity: 0.8, score: 0, shown: true }]

it('copies what it finds out about an archived item, and nothing else of the archive', async () => {
  const asked = experience('a kettle', { recalled: recalled(kettle), earned: 1, done: '' })
  const value = await learned([[asked]], { rate: 0.1 })
  expect(value.archives).toEqual([archive.id])
  expect(value.items).toMatchObject([{ id: kettle.id, utility: expect.closeTo(0.55), with: { count: 1, mean: 1 } }])
})

it('writes no case that the archive has, unless it holds no longer', async () => {
  const same = (at: number) => experience('a broken kettle', { at, done: kettle.text })
  expect((await learned([[same(7)]])).items).toEqual([])
  const gone = (at: number) => experience('a late ferry', { at, done: expired.text })
  expect((await learned([[gone(7)]])).items).toMatchObject([{ id: expired.id, from: 7 }])
})

const recalls = (of: MemoryItem, count: number, change: Partial<Experience>) =>
  Array.from({ length: count }, (_, i) =>
    experience(`${of.cue} ${i}`, { recalled: recalled(of), done: '', ...change, at: i }),
  )
const others = ['tea', 'wine', 'rope'].map((cue, i) => experience(cue, { at: 20 + i }))

it('lets a later case supersede what was found out about an archived item', async () => {
  const bad = recalls(parcel, 3, { earned: 0 })
  const better = experience('a lost parcel', { at: 7, done: 'ask the driver', earned: 1 })
  const { items } = await learned([bad, [better]])
  const written = items.find(({ text }) => text === 'ask the driver')
  expect(items.find(({ id }) => id === parcel.id)).toMatchObject({ until: 7, supersededBy: written?.id })
})

it('refuses what does harm for good, and forgets of other items what it found out, where there is no room', async () => {
  const { items, refused } = await learned([recalls(harmful, 12, { earned: 0 }), others], { capacity: 2 })
  expect(items).toHaveLength(2)
  expect(refused).toEqual([harmful.id])
  const fine = await learned([recalls(parcel, 1, { earned: 0.6 }), others], { capacity: 2 })
  expect(fine.items.map(({ id }) => id)).not.toContain(parcel.id)
  expect(fine.refused).toBeUndefined()
})

it('writes nothing of an episode that was shown what nobody knows any more: whose it was would be lost', async () => {
  const asked = experience('a kettle', { recalled: recalled(item('gone')), done: 'go home' })
  expect((await learned([[asked]])).items).toEqual([])
})

it('keeps what is refused as the origin of what it taught', async () => {
  const asked = experience('a coat', { recalled: recalled(harmful), done: 'go home', at: 30 })
  const { items } = await learned([[...recalls(harmful, 12, { earned: 0 }), ...others], [asked]], { capacity: 4 })
  expect(items.map(({ text }) => text)).toContain('go home')
})

it('goes on where it was saved, with what it refused', async () => {
  const learning = await caseUtility({ archives: [archive], capacity: 2 }).open(seatOf([archive]), null)
  await learning.step([...recalls(harmful, 12, { earned: 0 }), ...others], 0)
  const saved = await learning.save()
  const resumed = await caseUtility({ archives: [archive], capacity: 2 }).open(seatOf([archive]), {
    ...saved,
    blobs: [],
  } as never)
  expect(await resumed.propose()).toEqual(await learning.propose())
  expect(MemoryValue.parse(await resumed.propose()).refused).toEqual([harmful.id])
})

describe('another archive', () => {
  it('is what the learned memory recalls from', async () => {
    const folder = join(root, 'later')
    await buildMemoryArchive(folder, { items: [kettle, item('a late ferry')] })
    const later = await openMemoryArchive(folder)
    const value = await learned([[experience('tea')]], { archives: [later] })
    expect(value.archives).toEqual([later.id])
    later.close()
  })

  it('is not forgotten: a memory that has one is not learned without', async () => {
    await expect((async () => caseUtility().open(seatOf([archive]), null))()).rejects.toMatchObject({
      code: 'memory/no-archive',
    })
  })

  it('of another embedder is refused', () => {
    expect(() => caseUtility({ archives: [archive], embedder: lexicalEmbedder({ dimensions: 64 }) })).toThrow(
      /lexical-512/,
    )
  })
})
