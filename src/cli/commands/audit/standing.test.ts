import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { judgeLines } from './standing.ts'

it('tells how a judge stands to the truth: by a score, by how it leans, and in bins', () => {
  const bins = [
    { from: 0, to: 0.2, n: 1, told: 0.1, truth: 0 },
    { from: 0.8, to: 1, n: 2, told: 0.9, truth: 0.5 },
  ]
  const judge = { n: 3, brier: 0.27, constantBrier: 0.25, bias: { mean: 0.1, low: -0.05, high: 0.25 }, bins }
  expect(judgeLines(judge).map(stripVTControlCharacters)).toEqual([
    "The judge beside the truth of 3 sessions: Brier 0.27, a constant's 0.25; says +0.10 [-0.05, +0.25] more than is true",
    '  0.0 to 0.2  says 0.10, true 0.00 of 1',
    '  0.8 to 1.0  says 0.90, true 0.50 of 2',
  ])
  expect(judgeLines({ ...judge, bias: null, bins: [] })).toHaveLength(1)
})
