import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { successThreshold, thresholdFindings } from './success-threshold.ts'

const played = (...rewards: readonly (number | null)[]) =>
  rewards.map((reward, i) => ({ number: i + 1, refusedCalls: 0, reward }))
const threshold = (...rewards: readonly (number | null)[]) => successThreshold(played(...rewards), 1)

it('is the ceiling where half of the demonstrations earn it, or none was played', () => {
  expect(threshold()).toBe(1)
  expect(threshold(null, null)).toBe(1)
  expect(threshold(1, 1, 0.6, 0.7)).toBe(1)
})

it('is what nine in ten earn where most earn less, as with a cost for each call', () => {
  expect(threshold(0.94, 0.9, 0.86, null)).toBe(0.86)
  expect(threshold(0.6, ...Array.from({ length: 19 }, (_, i) => 0.8 + i / 100))).toBe(0.81)
})

it('is never above the ceiling, and nine in ten of those that earn less reach it', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 }), (rewards) => {
      const from = threshold(...rewards)
      expect(from).toBeLessThanOrEqual(1)
      if (from < 1) expect(rewards.filter((one) => one < from).length).toBeLessThanOrEqual(0.1 * rewards.length)
    }),
  )
})

it('is told where it is less than the ceiling', () => {
  const rewards = played(0.94, 0.9, 0.86)
  expect(thresholdFindings(rewards, { threshold: 1, ceiling: 1 })).toEqual([])
  const [finding] = thresholdFindings(rewards, { threshold: 0.86, ceiling: 1 })
  expect(finding).toMatchObject({ code: 'learn/success-threshold', severity: 'warn', n: 3, of: 3 })
  expect(finding?.message).toBe(
    '3 of 3 replayed demonstrations earn less than the most that the reward can pay, 1. So an attempt counts as a success from 0.86 on.',
  )
})
