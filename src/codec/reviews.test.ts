import { describe, expect, it } from 'vitest'
import { PullRequestReview, reviewSignal } from './reviews.ts'

const line = {
  trajectory: 't',
  pullRequest: 'org/app#12',
  outcome: 'accepted',
  at: '2026-01-02T03:04:05Z',
  reviewer: 'ann',
}
const read = (change: object = {}) =>
  reviewSignal(PullRequestReview.parse({ ...line, ...change }), { tenant: 'acme', name: 'merged' })

describe('a review', () => {
  it('is an outcome of the episode, at its own time', () => {
    expect(read()).toMatchObject({
      tenant: 'acme',
      trajectory: 't',
      source: 'outcome',
      reporter: 'reviews:ann',
      name: 'merged',
      value: true,
      at: Date.UTC(2026, 0, 2, 3, 4, 5),
    })
    expect(read({ outcome: 'rejected' }).value).toBe(false)
    expect(read({ reviewer: undefined }).reporter).toBe('reviews')
  })

  it('is the same signal whenever it is read, and another one where anything differs', () => {
    expect(read().key).toBe(read({ at: '2026-01-02T04:04:05+01:00' }).key)
    const others = [
      { outcome: 'rejected' },
      { at: 1 },
      { reviewer: 'bob' },
      { pullRequest: 'org/app#13' },
      { trajectory: 'u' },
    ]
    expect(new Set([{}, ...others].map((change) => read(change).key)).size).toBe(6)
  })

  it.each([
    { at: 'yesterday' },
    { at: '2026-01-02T03:04:05' },
    { outcome: 'merged' },
    { trajectory: '' },
    { extra: 1 },
  ])('that cannot be read is refused: %j', (change) => {
    expect(PullRequestReview.safeParse({ ...line, ...change }).success).toBe(false)
  })
})
