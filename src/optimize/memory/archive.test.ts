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

let root: string
let archive: MemoryArchive
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'ratchet-archive-'))
  await buildMemoryArchive(join(root, 'archive'), { items: [kettle, parcel, harmful] })
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
  {
    items = [],
    archives = [archive],
    ...options
  }: CaseUtilityOptions & { items?: MemoryItem[]; archives?: MemoryArchive[] } = {},
) {
  const learning = await caseUtility({ archive, ...options }).open(seatOf(archives, items), null)
  for (const [update, experiences] of steps.entries()) await learning.step(experiences, update)
  return MemoryValue.parse(await learning.propose())
}

const recalled = ({ id }: MemoryItem) => [{ id, similarity: 0.8, score: 0, shown: true }]

it('copies what it finds out about an archived item, and nothing else of the archive', async () => {
  const asked = experience('a kettle', { recalled: recalled(kettle), earned: 1, done: '' })
  const value = await learned([[asked]], { rate: 0.1 })
  expect(value.archive).toBe(archive.id)
  expect(value.items).toMatchObject([{ id: kettle.id, utility: expect.closeTo(0.55), with: { count: 1, mean: 1 } }])
})

it('writes no case that the archive has, and supersedes an archived one that a better case contradicts', async () => {
  const same = experience('a broken kettle', { done: kettle.text, earned: 1 })
  expect((await learned([[same]])).items).toEqual([])
  const better = experience('a lost parcel', { at: 7, done: 'ask the driver', earned: 1 })
  const { items } = await learned([[better]], { alike: 0.95 })
  const written = items.find(({ text }) => text === 'ask the driver')
  expect(items.find(({ id }) => id === parcel.id)).toMatchObject({ until: 7, supersededBy: written?.id })
})

it('keeps what does harm beyond the capacity, since the archived item would be recalled again', async () => {
  const bad = Array.from({ length: 12 }, (_, i) =>
    experience(`torn ${i}`, { at: i, recalled: recalled(harmful), earned: 0, done: '' }),
  )
  const others = ['tea', 'wine', 'rope'].map((cue, i) => experience(cue, { at: 20 + i }))
  const { items } = await learned([bad, others], { capacity: 2 })
  expect(items).toHaveLength(2)
  expect(items).toContainEqual(expect.objectContaining({ id: harmful.id }))
})

describe('another archive', () => {
  it('is what the learned memory recalls from', async () => {
    const folder = join(root, 'later')
    await buildMemoryArchive(folder, { items: [kettle, item('a late ferry')] })
    const later = await openMemoryArchive(folder)
    const value = await learned([[experience('tea')]], { archive: later, archives: [archive, later] })
    expect(value.archive).toBe(later.id)
    later.close()
  })

  it('is not forgotten: a memory that has one is not learned without', async () => {
    await expect((async () => caseUtility().open(seatOf([archive]), null))()).rejects.toMatchObject({
      code: 'memory/no-archive',
    })
  })

  it('of another embedder is refused', () => {
    expect(() => caseUtility({ archive, embedder: lexicalEmbedder({ dimensions: 64 }) })).toThrow(/lexical-512/)
  })
})
