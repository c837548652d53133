import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dot, unit } from '../../core/index.ts'
import { rng } from '../../core/index.ts'
import { Shelf } from './shelf.ts'

const angle = (degrees: number) => {
  const radians = (degrees * Math.PI) / 180
  return Float32Array.from([Math.cos(radians), Math.sin(radians)])
}

describe('a shelf', () => {
  it('finds what is near enough, the nearest first, whatever came and went', async () => {
    const acts = fc.array(fc.record({ name: fc.nat(30), degrees: fc.nat(359), isGone: fc.boolean() }), {
      maxLength: 60,
    })
    await fc.assert(
      fc.asyncProperty(acts, fc.nat(359), async (some, asked) => {
        const shelf = new Shelf()
        const all = new Map<string, Float32Array>()
        for (const { name, degrees, isGone } of some) {
          if (isGone) {
            shelf.remove(String(name))
            all.delete(String(name))
          } else {
            shelf.put(String(name), angle(degrees))
            all.set(String(name), angle(degrees))
          }
        }
        const expected = [...all]
          .map(([name, vector]) => ({ name, similarity: dot(angle(asked), vector) }))
          .filter(({ similarity }) => similarity >= 0.9)
        const found = await shelf.near(angle(asked), 0.9)
        expect(found.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual(
          expected.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
        )
        expect(found.map(({ similarity }) => similarity)).toEqual(
          found.map(({ similarity }) => similarity).toSorted((a, b) => b - a),
        )
      }),
    )
  })

  it('compares with few of many, and finds what all comparisons would', async () => {
    const chance = rng('shelf')
    const normal = () => Math.sqrt(-2 * Math.log(1 - chance.next())) * Math.cos(2 * Math.PI * chance.next())
    const random = () => unit(Float32Array.from({ length: 64 }, normal))
    const shelf = new Shelf()
    const vectors = Array.from({ length: 10_000 }, random)
    for (const [i, vector] of vectors.entries()) shelf.put(String(i), vector)
    for (let i = 0; i < 50; i++) {
      const vector = vectors[i] ?? random()
      const near = unit(vector.map((value) => value + 0.02 * normal()))
      expect(await shelf.near(near, 0.95)).toMatchObject([{ name: String(i) }])
    }
    // What is replaced or gone is found no more, and what is new is.
    shelf.remove('1')
    shelf.put('2', vectors[3] ?? random())
    expect(await shelf.near(vectors[1] ?? random(), 0.95)).toEqual([])
    expect(await shelf.near(vectors[2] ?? random(), 0.95)).toEqual([])
    const both = await shelf.near(vectors[3] ?? random(), 0.95)
    expect(both.map(({ name }) => name).toSorted()).toEqual(['2', '3'])
  })
})
