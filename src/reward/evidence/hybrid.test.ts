import { assert, asyncProperty, double } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { trajectoryOf } from '../../../test/support/trajectories.ts'
import type { RewardPart } from '../part.ts'
import { hybrid } from './hybrid.ts'

const part = (score: number | null): RewardPart => ({ identity: `constant:${score}`, score: () => score })
const score = (ran: number | null, ranked: number | null) =>
  hybrid(part(ran), part(ranked)).score(trajectoryOf(), [], 0)

describe('execution and a scorer', () => {
  it('the scorer ranks what passed, and cannot lift what did not', async () => {
    expect(await score(1, 0)).toBe(0.6)
    expect(await score(1, 1)).toBe(1)
    expect(await score(0, 1)).toBe(0)
    expect(await score(0.5, 1)).toBe(0.3)
  })

  it('what is missing is missing; a scorer is not asked about what failed', async () => {
    expect(await score(null, 1)).toBeNull()
    expect(await score(1, null)).toBeNull()
    expect(await score(0, null)).toBe(0)
  })

  it('whatever the scorer says, what passed is worth more', async () => {
    const unit = double({ min: 0, max: 1, noNaN: true })
    await assert(
      asyncProperty(unit, unit, unit, async (ran, a, b) => {
        if (ran < 1) expect(await score(1, a)).toBeGreaterThan((await score(ran, b)) ?? 1)
      }),
    )
  })

  it('refuses parts outside [0, 1]', async () => {
    await expect(score(2, 0)).rejects.toMatchObject({ code: 'reward/part-out-of-range' })
    await expect(score(1, -1)).rejects.toMatchObject({ code: 'reward/part-out-of-range' })
    expect(() => hybrid(part(1), part(1), 1)).toThrow(/worth/)
  })
})
