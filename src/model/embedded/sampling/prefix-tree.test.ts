import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { KvRows } from './kv.ts'
import { PrefixTree, pathTo } from './prefix-tree.ts'

/** Rows of one element that say which token they stand for. */
const rowsOf =
  (tokens: Int32Array) =>
  (from: number): KvRows => ({
    elements: Float32Array.from(tokens.subarray(from)),
    count: tokens.length - from,
  })

const insert = (tree: PrefixTree, tokens: number[], adapter: string | null = null) => {
  const all = Int32Array.from(tokens)
  return tree.insert(adapter, all, all.length, rowsOf(all))
}

const match = (tree: PrefixTree, tokens: number[], adapter: string | null = null) =>
  tree.match(adapter, Int32Array.from(tokens), tokens.length)

/** The cached rows that lead to a place. */
const content = (place: ReturnType<typeof match>) =>
  pathTo(place).flatMap(({ segment, count }) => [...segment.rows.elements.subarray(0, count)])

describe('the prefix tree', () => {
  it('finds the longest known prefix, inside a run and across branches', () => {
    const tree = new PrefixTree(() => 1000)
    insert(tree, [1, 2, 3, 4])
    insert(tree, [1, 2, 3, 4, 5, 6])
    insert(tree, [1, 2, 7, 8])
    expect(match(tree, [1, 2, 3, 9]).length).toBe(3)
    expect(match(tree, [1, 2, 7, 8, 9]).length).toBe(4)
    expect(match(tree, [1, 2, 3, 4, 5]).length).toBe(5)
    expect(match(tree, [2]).length).toBe(0)
  })

  it('stores what sequences share once', () => {
    const tree = new PrefixTree(() => 1000)
    insert(tree, [1, 2, 3, 4])
    insert(tree, [1, 2, 3, 5])
    insert(tree, [1, 2])
    expect(tree.elements).toBe(5)
  })

  it('keeps adapters apart', () => {
    const tree = new PrefixTree(() => 1000)
    insert(tree, [1, 2, 3], 'a')
    expect(match(tree, [1, 2, 3], 'b').length).toBe(0)
    expect(match(tree, [1, 2, 3]).length).toBe(0)
    tree.drop('a')
    expect(tree.elements).toBe(0)
    expect(match(tree, [1, 2, 3], 'a').length).toBe(0)
  })

  it('evicts the least recently used leaves, and never pinned ones', () => {
    const tree = new PrefixTree(() => 8)
    insert(tree, [1, 1, 1])
    const pinned = insert(tree, [2, 2, 2]).segment
    tree.pin(pinned)
    insert(tree, [3, 3, 3])
    match(tree, [1, 1, 1])
    tree.trim()
    expect([1, 2, 3].map((token) => match(tree, [token, token, token]).length)).toEqual([3, 3, 0])
    insert(tree, [4, 4, 4, 4, 4, 4])
    match(tree, [4, 4, 4, 4, 4, 4])
    tree.trim()
    expect(match(tree, [2, 2, 2]).length).toBe(3)
  })

  it('returns the rows of exactly the matched tokens, whatever was inserted in whatever order', () => {
    const sequence = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(fc.array(sequence, { minLength: 1, maxLength: 12 }), sequence, (inserted, query) => {
        const tree = new PrefixTree(() => 1e6)
        for (const tokens of inserted) insert(tree, tokens)
        const shared = (other: number[]) => {
          const end = query.findIndex((token, i) => other[i] !== token)
          return end < 0 ? query.length : end
        }
        const place = match(tree, query)
        expect(place.length).toBe(Math.max(...inserted.map(shared)))
        expect(content(place)).toEqual(query.slice(0, place.length))
      }),
    )
  })
})
