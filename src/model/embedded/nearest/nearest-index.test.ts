import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { numbers } from '../../../../test/support/recorded.ts'
import type { Datastore } from './datastore.ts'
import { NearestIndex } from './nearest-index.ts'

const width = 24
const entries = 300
/** Keys far from the origin, as hidden states are: differences of large numbers must not decide. */
const keys = numbers(1, entries * width).map((value, i) => value + 40 * ((i % width) - 12))
// Entries 10 and 20 are one key.
keys.copyWithin(20 * width, 10 * width, 11 * width)
const datastore: Datastore = {
  keys,
  tokens: Int32Array.from({ length: entries }, (_, entry) => entry),
  width,
  origin: { model: '', adapter: null },
}
const queries = keys.slice(0, 12 * width).map((value, i) => value + (numbers(2, 12 * width)[i] as number) / 2)

/** By sums of squared differences over every entry. */
function nearestTo(query: Float32Array, count: number) {
  return Array.from({ length: entries }, (_, entry) => {
    let distance = 0
    for (let i = 0; i < width; i++) distance += (query[i]! - keys[entry * width + i]!) ** 2
    return { entry, distance }
  })
    .toSorted((a, b) => a.distance - b.distance || a.entry - b.entry)
    .slice(0, count)
}

describe('search among all entries', () => {
  let index: NearestIndex
  beforeAll(async () => {
    index = await NearestIndex.open(datastore, 1)
  })
  afterAll(() => index.close())
  const row = (i: number) => queries.slice(i * width, (i + 1) * width)

  it('finds the nearest, and their distances', async () => {
    const found = await index.search(queries, Array<number>(12).fill(7))
    found.forEach(({ tokens, distances }, i) => {
      const expected = nearestTo(row(i), 7)
      expect([...tokens]).toEqual(expected.map(({ entry }) => entry))
      expect([...distances]).toEqual(expected.map(({ distance }) => distance))
    })
  })

  it('gives equal distances in the order of the entries', async () => {
    const [found] = await index.search(keys.slice(10 * width, 11 * width), [2])
    expect(found).toEqual({ distances: Float64Array.of(0, 0), tokens: Int32Array.of(10, 20) })
  })

  it('gives a row what it gives it alone, whatever is asked beside it', async () => {
    const together = await index.search(queries, [1, 5, 300, 5, 5, 5, 5, 5, 5, 5, 5, 64])
    for (const [i, count] of [
      [0, 1],
      [2, 300],
      [11, 64],
    ] as const) {
      expect((await index.search(row(i), [count]))[0]).toEqual(together[i])
    }
  })

  it('gives all entries where more are asked for', async () => {
    const [found] = await index.search(row(0), [1024])
    expect(found?.tokens.length).toBe(entries)
    expect(new Set(found?.tokens).size).toBe(entries)
  })
})

it('searches a datastore of one entry', async () => {
  const index = await NearestIndex.open({ ...datastore, keys: keys.slice(0, width), tokens: Int32Array.of(3) }, 1)
  expect((await index.search(keys.slice(0, width), [8]))[0]).toEqual({
    distances: Float64Array.of(0),
    tokens: Int32Array.of(3),
  })
  await index.close()
})
