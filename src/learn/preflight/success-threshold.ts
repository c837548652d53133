import { counted, type Finding } from './finding.ts'
import type { PlayedDemonstration } from './played-demonstration.ts'

/** The share of the demonstrations that may earn less than a success: a few are worse than the others. */
const worse = 0.1

/**
 * The reward from which an attempt is a success: the rubric's ceiling where half of the demonstrations earn it, else what nine in
 * ten of them earn. With a cost for each call, say, nobody earns the ceiling. Pure.
 */
export function successThreshold(played: readonly PlayedDemonstration[], ceiling: number): number {
  const rewards = played.flatMap(({ reward }) => (reward === null ? [] : [reward])).toSorted((a, b) => a - b)
  const full = rewards.filter((reward) => reward >= ceiling).length
  return 2 * full >= rewards.length ? ceiling : (rewards[Math.floor(worse * rewards.length)] ?? ceiling)
}

/** Says where attempts are a success from less than the ceiling on. */
export function thresholdFindings(
  played: readonly PlayedDemonstration[],
  { threshold, ceiling }: { readonly threshold: number; readonly ceiling: number },
): readonly Finding[] {
  if (threshold >= ceiling) return []
  const less = played.filter(({ reward }) => reward !== null && reward < ceiling)
  const earn = counted(less.length, played.length, 'replayed demonstration', ['earns', 'earn'])
  return [
    {
      severity: 'warn',
      code: 'learn/success-threshold',
      message: `${earn} less than the most that the reward can pay, ${ceiling}. So an attempt counts as a success from ${threshold} on.`,
      hint: 'In a program the option successThreshold says another reward.',
      n: less.length,
      of: played.length,
      example: null,
    },
  ]
}
