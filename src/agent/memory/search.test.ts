import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { dot, rng, unit } from '../../core/index.ts'
import { exactSearch, sketchedSearch } from './search.ts'
import { distancesTo, sketchesOf, sketchOf, wordsOfSketch } from './sketch.ts'
import { vectorOf, vectorText } from './vector.ts'

const chance = rng('search')
const normal = () => Math.sqrt(-2 * Math.log(1 - chance.next())) * Math.cos(2 * Math.PI * chance.next())
const random = (size: number) => unit(Float32Array.from({ length: size }, normal))

it('finds the nearest above a floor, the nearest first, of equals the first', () => {
  const of = (degrees: number) => {
    const angle = (degrees * Math.PI) / 180
    return Float32Array.from([Math.cos(angle), Math.sin(angle)])
  }
  const search = exactSearch([of(90), of(60), of(0), of(60), of(180)])
  expect(search.search(of(0), 3, 0.4).map(({ row }) => row)).toEqual([2, 1, 3])
  expect(search.search(of(0), 2, 0.4).map(({ row }) => row)).toEqual([2, 1])
  expect(search.search(of(0), 3, 0.6)).toEqual([{ row: 2, similarity: 1 }])
})

it('sketched, finds nearly all that an exact search finds', async () => {
  const middles = Array.from({ length: 60 }, () => random(96))
  const near = () => {
    const around = random(96)
    return unit((middles[chance.int(60)] ?? around).map((value, i) => value + 0.9 * (around[i] ?? 0)))
  }
  const vectors = Array.from({ length: 3_000 }, near)
  const sketched = await sketchedSearch(vectors, { refined: 200 })
  const exact = exactSearch(vectors)
  let [found, there] = [0, 0]
  for (let i = 0; i < 60; i++) {
    const query = near()
    const rows = new Set(sketched.search(query, 10, 0.35).map(({ row }) => row))
    const right = exact.search(query, 10, 0.35)
    there += right.length
    found += right.filter(({ row }) => rows.has(row)).length
  }
  expect(there).toBeGreaterThan(500)
  expect(found / there).toBeGreaterThan(0.97)
})

it('counts the bits in which sketches differ', () => {
  const word = fc.integer({ min: 0, max: 0xffffffff })
  const sketch = fc.array(word, { minLength: wordsOfSketch, maxLength: wordsOfSketch })
  fc.assert(
    fc.property(sketch, fc.array(sketch, { maxLength: 5 }), (one, others) => {
      const distances = new Uint16Array(others.length)
      const counts = new Uint32Array(257)
      distancesTo(Int32Array.from(one), Int32Array.from(others.flat()), distances, counts)
      const differing = others.map((other) =>
        other.reduce(
          (sum, value, i) => sum + ((value ^ (one[i] ?? 0)) >>> 0).toString(2).replaceAll('0', '').length,
          0,
        ),
      )
      expect([...distances]).toEqual(differing)
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(others.length)
    }),
  )
})

it('sketches an angle: a share θ/π of the bits differs', async () => {
  const distances = new Uint16Array(1)
  let [share, angle] = [0, 0]
  for (let i = 0; i < 200; i++) {
    const [a, b] = [random(384), random(384)]
    const mixed = unit(a.map((value, j) => value + (b[j] ?? 0)))
    distancesTo(sketchOf(a), await sketchesOf([mixed]), distances, new Uint32Array(257))
    share += (distances[0] ?? 0) / 256 / 200
    angle += Math.acos(dot(a, mixed)) / Math.PI / 200
  }
  expect(share).toBeCloseTo(angle, 1)
})

it('keeps a vector as text with little loss', () => {
  for (let i = 0; i < 50; i++) {
    const vector = random(384)
    expect(dot(vector, vectorOf(vectorText(vector)))).toBeGreaterThan(0.999)
  }
  expect([...vectorOf(vectorText(new Float32Array(3)))]).toEqual([0, 0, 0])
})
