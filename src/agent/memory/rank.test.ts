import { expect, it } from 'vitest'
import { item } from '../../../test/support/memory-items.ts'
import { doesHarm, featureCount, features, ranked } from './rank.ts'

const of = (cue: string, similarity: number, utility: number) => ({ item: item(cue, { utility }), similarity })

it('weighs similarity and utility alike, each in standard deviations (MemRL)', () => {
  const found = [of('a', 0.9, -0.2), of('b', 0.7, 0.4), of('c', 0.5, 0.1)]
  // z of similarities: 1.2247, 0, -1.2247; of utilities (mean 0.1, deviation 0.24495): -1.2247, 1.2247, 0.
  expect(ranked(found, 4, null).map(({ item: { cue }, score }) => [cue, score])).toEqual([
    ['b', expect.closeTo(0.61237, 4)],
    ['a', expect.closeTo(0, 4)],
    ['c', expect.closeTo(-0.61237, 4)],
  ])
})

it('takes what a selector says instead, where there is one', () => {
  const found = [of('a', 0.9, -0.2), of('b', 0.5, 0.4)]
  const byUtility = { weights: [0, 0, 2, 0, 0, 0] }
  // σ(2 · 0.4) and σ(2 · -0.2).
  expect(ranked(found, 4, byUtility).map(({ item: { cue }, score }) => [cue, score])).toEqual([
    ['b', expect.closeTo(0.68997, 4)],
    ['a', expect.closeTo(0.40131, 4)],
  ])
  expect(features(item('a'), 0.5)).toHaveLength(featureCount)
})

it.each([
  ['nearly all went badly, and nothing tells how it goes without', -0.6, [5, -1], null, true],
  ['nearly all went badly, and as badly where nothing was recalled', -0.9, [9, -0.9], [5, -1], false],
  ['nearly all went badly of late, and better where nothing was recalled', -0.6, [50, 0.6], [6, 0.2], true],
  ['it was recalled too seldom to tell', -0.6, [4, -1], null, false],
] as const)('tells harm: %s', (_, utility, [count, mean], bare, harmful) => {
  const none = bare && { count: bare[0], mean: bare[1] }
  const seen = { utility, with: { count, mean }, without: none ?? { count: 0, mean: 0 }, ...(none && { bare: none }) }
  expect(doesHarm(seen)).toBe(harmful)
})

it('tells harm by chance, and not by what fails as much because of another item', () => {
  const shown = { count: 20, mean: -0.2 }
  expect(doesHarm({ utility: 0, with: shown, without: { count: 20, mean: 0.4 } })).toBe(true)
  expect(doesHarm({ utility: -0.6, with: shown, without: { count: 20, mean: -1 } })).toBe(true)
})
