import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { layersOf, type Placeable } from './layers.ts'

const sizes = { box: 100, line: 10 }

/** Any acyclic graph: everything comes after some of what came before. */
const graphs = fc.array(fc.array(fc.nat({ max: 40 }), { maxLength: 4 }), { maxLength: 24 }).map((rows) =>
  rows.map(
    (after, i): Placeable => ({
      id: `n${i}`,
      after: [...new Set(after.filter((of) => of < i))].map((of) => `n${of}`),
    }),
  ),
)

describe('the layout of any graph', () => {
  it('has everything below what it comes after, and a line for each', () => {
    fc.assert(
      fc.property(graphs, (items) => {
        const { places, routes } = layersOf(items, sizes)
        const layerOf = (id: string) => places.get(id)?.layer ?? Number.NaN
        for (const { id, after } of items) for (const of of after) expect(layerOf(id)).toBeGreaterThan(layerOf(of))
        expect(routes.map(({ from, to }) => `${from} ${to}`).toSorted()).toEqual(
          items.flatMap(({ id, after }) => after.map((of) => `${of} ${id}`)).toSorted(),
        )
        for (const { places: path } of routes)
          for (const [i, { layer }] of path.entries()) expect(layer).toBe((path[0]?.layer ?? 0) + i)
      }),
    )
  })

  it('has no box over another, nor over a line that passes, and nothing outside', () => {
    fc.assert(
      fc.property(graphs, (items) => {
        const { places, routes, width } = layersOf(items, sizes)
        const passing = routes.flatMap((route) => route.places.filter(({ id }) => id === null))
        const all = [...places.values(), ...passing]
        const half = (id: string | null) => (id === null ? sizes.line : sizes.box) / 2
        for (const [i, a] of all.entries()) {
          expect(a.x - half(a.id)).toBeGreaterThanOrEqual(-1e-6)
          expect(a.x + half(a.id)).toBeLessThanOrEqual(width + 1e-6)
          for (const b of all.slice(i + 1)) {
            if (a.layer !== b.layer) continue
            expect(Math.abs(a.x - b.x)).toBeGreaterThanOrEqual(half(a.id) + half(b.id) - 1e-6)
          }
        }
      }),
      { numRuns: 50 },
    )
  })

  it('does not cross where nothing need cross', () => {
    const { places } = layersOf(
      [
        { id: 'a', after: [] },
        { id: 'b', after: [] },
        { id: 'underB', after: ['b'] },
        { id: 'underA', after: ['a'] },
      ],
      sizes,
    )
    const left = (of: string, other: string) => (places.get(of)?.x ?? 0) < (places.get(other)?.x ?? 0)
    expect(left('a', 'b')).toBe(left('underA', 'underB'))
  })
})
