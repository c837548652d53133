import { describe, expect, it } from 'vitest'
import { criticalWins, promotionProbability } from './power.ts'

describe('criticalWins', () => {
  it('is exact McNemar at margin 0: 5 of 5 is 1/32, 7 of 8 is 9/256', () => {
    const critical = criticalWins(30, 0, 0.05)
    expect(critical[0]).toBe(5)
    expect(critical[1]).toBe(7)
  })

  it('asks for more wins above a margin than above 0', () => {
    expect(criticalWins(100, 0.05, 0.05)[3]).toBeGreaterThan(criticalWins(100, 0, 0.05)[3] ?? 0)
  })
})

describe('promotionProbability', () => {
  it('is the probability of five wins when five tasks are all that there is', () => {
    const critical = criticalWins(5, 0, 0.05)
    expect(promotionProbability(critical, { tasks: 5, wins: 0.9, losses: 0.1 })).toBeCloseTo(0.9 ** 5, 12)
  })

  // With pass/fail scores the error rate is computed, not simulated: over all outcomes, at every discordance.
  it.each([
    [50, 0, 0.05],
    [200, 0, 0.05],
    [200, 0.02, 0.05],
    [200, 0.02, 0.0304],
    [100, -0.05, 0.01],
  ])('never exceeds alpha at the margin: %i tasks, margin %d, alpha %d', (tasks, margin, alpha) => {
    const critical = criticalWins(tasks, margin, alpha)
    const sizes = Array.from({ length: 51 }, (_, i) => {
      const discordant = Math.abs(margin) + ((1 - Math.abs(margin)) * i) / 50
      return promotionProbability(critical, {
        tasks,
        wins: (discordant + margin) / 2,
        losses: (discordant - margin) / 2,
      })
    })
    expect(Math.max(...sizes)).toBeLessThanOrEqual(alpha)
    expect(Math.max(...sizes)).toBeGreaterThan(0.5 * alpha)
  })
})
