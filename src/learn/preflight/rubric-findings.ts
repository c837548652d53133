import type { Attempt } from './attempt.ts'
import { counted, type Finding, gravity, quoted } from './finding.ts'

/** Episodes on which the rubric throws. */
export function rubricErrors(attempts: readonly Attempt[], noun: string): readonly Finding[] {
  const errors = attempts.flatMap(({ rubricError }) => (rubricError === null ? [] : [rubricError]))
  const [example] = errors
  if (example === undefined) return []
  const make = counted(errors.length, attempts.length, noun, ['makes', 'make'])
  return [
    {
      severity: gravity(errors.length, attempts.length),
      code: 'learn/reward-throws',
      message: `${make} the reward throw. For example, ${quoted(example, 160)}.`,
      hint: 'Make every part of the rubric return a number, or null where the evidence is missing.',
      n: errors.length,
      of: attempts.length,
      example,
    },
  ]
}

/** Episodes that the reward says nothing of, where that is all of them. */
export function noEvidence(attempts: readonly Attempt[], severity: Finding['severity']): readonly Finding[] {
  const silent = attempts.flatMap(({ reward }) => (reward?.status === 'missing' ? [reward.reason] : []))
  const [example] = silent
  if (example === undefined || silent.length < attempts.length) return []
  return [
    {
      severity,
      code: 'learn/reward-missing',
      message: `${counted(silent.length, attempts.length, 'trial episode', ['has', 'have'])} no reward: ${quoted(example, 160)}.`,
      hint: 'See that the rubric has evidence in the final state: episodes without a reward are not learned from.',
      n: silent.length,
      of: attempts.length,
      example,
    },
  ]
}
