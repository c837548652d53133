import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TrigramIndex } from './trigram-index.ts'

const grams = (text: string) => {
  const padded = ` ${text.toLowerCase().replace(/\s+/g, ' ').trim()} `
  return new Set(Array.from({ length: Math.max(padded.length - 2, 0) }, (_, i) => padded.slice(i, i + 3)))
}

/** The same ranking by its definition, without an index. */
function byDefinition(texts: readonly string[], query: string): { text: number; score: number }[] {
  const sets = texts.map(grams)
  const weight = (gram: string) => Math.log1p(texts.length / sets.filter((set) => set.has(gram)).length) ** 2
  const sum = (set: Iterable<string>) => [...set].reduce((total, gram) => total + weight(gram), 0)
  return sets
    .map((set, text) => ({ text, score: sum([...grams(query)].filter((gram) => set.has(gram))) / Math.sqrt(sum(set)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.text - b.text)
}

describe('TrigramIndex', () => {
  it('ranks as its definition does, whatever was asked before', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'B', ' ', '.'), minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 12 }),
        fc.array(word, { maxLength: 5 }),
        (texts, queries) => {
          const index = new TrigramIndex(texts)
          for (const query of queries) {
            const expected = byDefinition(texts, query).slice(0, 3)
            const found = index.search(query, 3)
            expect(found).toHaveLength(expected.length)
            const scores = new Map(byDefinition(texts, query).map(({ text, score }) => [text, score]))
            for (const [rank, text] of found.entries())
              expect(scores.get(text)).toBeCloseTo(expected.at(rank)!.score, 9)
          }
        },
      ),
    )
  })

  it('finds a misspelt name', () => {
    const index = new TrigramIndex(['aspect-ratio', 'background-color', 'border-radius'])
    expect(index.search('aspct-ration', 1)).toEqual([0])
  })

  it('returns nothing for a query that shares no trigram', () => {
    expect(new TrigramIndex(['aspect-ratio']).search('xyz', 3)).toEqual([])
    expect(new TrigramIndex(['aspect-ratio']).search('', 3)).toEqual([])
  })

  it('breaks ties by position', () => {
    expect(new TrigramIndex(['same', 'SAME', ' same ']).search('same', 2)).toEqual([0, 1])
  })
})
