import { describe, expect, it } from 'vitest'
import { type AuditDraw, type AuditLabel, CanaryId, TrajectoryId } from '../../core/index.ts'
import { agreementOf, krippendorff } from './agreement.ts'
import { cohen } from './kappa.ts'

const drawOf = (
  i: number,
  said: Readonly<Record<string, number | null>>,
  change: Partial<AuditLabel> = {},
): AuditDraw => ({
  id: `d${i}`,
  canary: CanaryId.parse('k'),
  sequence: i,
  trajectory: TrajectoryId.parse(`t${i}`),
  at: i,
  labels: Object.entries(said).map(([reviewer, truth]) => ({
    tenant: 'default',
    draw: `d${i}`,
    reviewer,
    by: 'person',
    truth,
    note: '',
    at: 1,
    withdrawnAt: null,
    ...change,
  })),
})
const person = { by: 'person' } as const

describe('how reviewers agree', () => {
  it('is Cohen’s kappa: the textbook’s 50 cases of two readers', () => {
    const table = [
      [20, 1, 1],
      [5, 1, 0],
      [10, 0, 1],
      [15, 0, 0],
    ] as const
    const pairs = table.flatMap(([count, a, b]) => Array.from({ length: count }, () => [a, b] as const))
    expect(cohen(pairs)).toBeCloseTo(0.4, 9)
    expect(cohen([[1, 1]])).toBeNull()
  })

  it('is Krippendorff’s alpha: his example of four observers, interval data', () => {
    const units = [
      [1, 1, 1],
      [2, 2, 3, 2],
      [3, 3, 3, 3],
      [3, 3, 3, 3],
      [2, 2, 2, 2],
      [1, 2, 3, 4],
      [4, 4, 4, 4],
      [1, 1, 2, 1],
      [2, 2, 2, 2],
      [5, 5, 5],
      [1, 1],
      [3],
    ]
    expect(krippendorff(units)).toBeCloseTo(0.849, 3)
    expect(krippendorff([[1], [0]])).toBeNull()
    expect(krippendorff([[1, 1]])).toBeNull()
  })

  it('is told by pair and by reviewer; what cannot be told and what was taken back does not count', () => {
    const draws = [
      drawOf(0, { ann: 1, bob: 1 }),
      drawOf(1, { ann: 0, bob: 0 }),
      drawOf(2, { ann: 1, bob: 0 }),
      drawOf(3, { ann: 0, bob: null }),
      drawOf(4, { ann: 0, bob: 1 }, { withdrawnAt: 9 }),
    ]
    expect(agreementOf(draws, person)).toMatchObject({
      shared: 3,
      pairs: [{ a: 'ann', b: 'bob', draws: 3, kappa: 0.4 }],
      reviewers: [
        { reviewer: 'ann', labels: 4, untold: 0, mean: 0.5, alike: false },
        { reviewer: 'bob', labels: 3, untold: 1, alike: false },
      ],
    })
  })

  it('flags who says the same of everything, beside others who do not', () => {
    const draws = Array.from({ length: 24 }, (_, i) => drawOf(i, { ann: i % 2, bob: 1 }))
    const flagged = agreementOf(draws, person).reviewers.filter(({ alike }) => alike)
    expect(flagged.map(({ reviewer }) => reviewer)).toEqual(['bob'])
    // Where nearly all is right, saying so is no sign.
    const right = Array.from({ length: 24 }, (_, i) => drawOf(i, { ann: i === 0 ? 0 : 1, bob: 1 }))
    expect(agreementOf(right, person).reviewers.some(({ alike }) => alike)).toBe(false)
    expect(agreementOf(draws.slice(0, 10), person).reviewers.some(({ alike }) => alike)).toBe(false)
  })

  it('compares no more than 20, those who judged most: names cost nothing', () => {
    const names = Array.from({ length: 5_000 }, (_, i) => [`made up ${i}`, i % 2] as const)
    const draws = [drawOf(0, Object.fromEntries(names)), drawOf(1, { ann: 1, bob: 1 }), drawOf(2, { ann: 0, bob: 1 })]
    const { pairs, reviewers, others } = agreementOf(draws, person)
    expect(reviewers.slice(0, 2).map(({ reviewer }) => reviewer)).toEqual(['ann', 'bob'])
    expect(reviewers).toHaveLength(20)
    expect(others).toBe(4_982)
    expect(pairs).toContainEqual({ a: 'ann', b: 'bob', draws: 2, kappa: 0 })
    expect(pairs.length).toBeLessThanOrEqual(190)
  })
})
