import { rng } from '../../core/index.ts'

/** Something that somebody accepted or rejected. */
export interface JudgedExample {
  /** Whose judgement it is: all of one subject are learned from, or held out. */
  readonly subject: string
  /** As many numbers as every other example has. */
  readonly features: readonly number[]
  readonly accepted: boolean
}

/** In which of `folds` parts each example is: those of one subject in one, and the parts of about equal size. */
export function foldsBySubject(
  examples: readonly Pick<JudgedExample, 'subject'>[],
  folds: number,
  seed: number,
): readonly number[] {
  const sizes = new Map<string, number>()
  for (const { subject } of examples) sizes.set(subject, (sizes.get(subject) ?? 0) + 1)
  const shuffled = rng('reward-folds', seed).shuffle([...sizes].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  const filled = Array.from({ length: folds }, () => 0)
  const homes = new Map<string, number>()
  for (const [subject, size] of shuffled.toSorted(([, a], [, b]) => b - a)) {
    const home = filled.indexOf(Math.min(...filled))
    homes.set(subject, home)
    filled[home] = (filled[home] ?? 0) + size
  }
  return examples.map(({ subject }) => homes.get(subject) ?? 0)
}

/** How much each example counts: one, until its subject has said so many; then all of the subject together so much. */
export function countsOf(examples: readonly JudgedExample[], mostOfSubject: number): readonly number[] {
  const sizes = new Map<string, number>()
  for (const { subject } of examples) sizes.set(subject, (sizes.get(subject) ?? 0) + 1)
  return examples.map(({ subject }) => Math.min(1, mostOfSubject / (sizes.get(subject) ?? 1)))
}
