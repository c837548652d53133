import { z } from 'zod'
import {
  type Evaluate,
  type LearnableTask,
  parseInput,
  type ScoredTrajectory,
  sha256,
  type TaskId,
} from '../../core/index.ts'

/** What tasks earned with one text; `null`: attempted, and the evidence is missing. */
export type Earned = ReadonlyMap<TaskId, number | null>

export const SavedScores = z.strictObject({
  spent: z.int().nonnegative(),
  /** By the hash of the text, and by the task. */
  known: z.record(z.string(), z.record(z.string(), z.number().nullable())),
})
export type SavedScores = z.infer<typeof SavedScores>

/** The address of a text's exact bytes. */
export const hashOf = (text: string): string => sha256(text)

/**
 * What texts earned, by their exact bytes: what was attempted once is not attempted again, in this process or in one that goes
 * on after it. Counts what was spent.
 */
export class Scores {
  readonly #evaluate: Evaluate<{ readonly text: string }>
  readonly #evaluations: number
  readonly #known: Map<string, Map<string, number | null>>
  #spent: number

  /** @param evaluations episodes that may be attempted in all. */
  constructor(evaluate: Evaluate<{ readonly text: string }>, evaluations: number, saved: unknown = null) {
    this.#evaluate = evaluate
    this.#evaluations = evaluations
    const { spent, known } = saved === null ? { spent: 0, known: {} } : parseInput(SavedScores, saved, 'saved scores')
    this.#spent = spent
    this.#known = new Map(Object.entries(known).map(([hash, earned]) => [hash, new Map(Object.entries(earned))]))
  }

  get spent(): number {
    return this.#spent
  }

  /** Whether so many more attempts can be paid for. */
  affordsMore(attempts: number): boolean {
    return this.#spent + attempts <= this.#evaluations
  }

  /** Attempts that {@link of} would make. */
  cost(text: string, tasks: readonly LearnableTask[]): number {
    return this.#missing(text, tasks).length
  }

  /** Whether these exact bytes were attempted at any task. */
  knows(text: string): boolean {
    return this.#known.has(hashOf(text))
  }

  /** What a text earned of these tasks; those that are not known are attempted. Episodes of the latter come with it. */
  async of(
    text: string,
    tasks: readonly LearnableTask[],
  ): Promise<{ readonly earned: Earned; readonly fresh: readonly ScoredTrajectory[] }> {
    const missing = this.#missing(text, tasks)
    const fresh = missing.length === 0 ? [] : await this.#evaluate({ text }, missing)
    const known = this.#known.get(hashOf(text)) ?? new Map<string, number | null>()
    this.#known.set(hashOf(text), known)
    // An attempt that left no trajectory is paid for, and is missing evidence.
    for (const { id } of missing) known.set(id, null)
    for (const { trajectory, reward } of fresh) known.set(trajectory.task.id, reward.value)
    this.#spent += missing.length
    return { earned: new Map(tasks.map(({ id }) => [id, known.get(id) ?? null])), fresh }
  }

  /** Whether a task was attempted with these exact bytes. */
  has(text: string, task: TaskId): boolean {
    return this.#known.get(hashOf(text))?.has(task) ?? false
  }

  save(): SavedScores {
    const known = Object.fromEntries([...this.#known].map(([hash, earned]) => [hash, Object.fromEntries(earned)]))
    return { spent: this.#spent, known }
  }

  #missing(text: string, tasks: readonly LearnableTask[]): readonly LearnableTask[] {
    const known = this.#known.get(hashOf(text))
    return tasks.filter(({ id }) => !known?.has(id))
  }
}

/**
 * How much more tasks earned with one text than with another, on average over those that the other has evidence of. Where only
 * the new text's evidence is missing, the worst that either earned stands for it: nothing may win by breaking what measures it.
 * `null` where nothing can be compared.
 */
export function pairedGain(before: Earned, after: Earned): number | null {
  const seen = [...before.values(), ...after.values()].filter((value) => value !== null)
  const worst = seen.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY)
  const gains = [...before].flatMap(([task, value]) => (value === null ? [] : [(after.get(task) ?? worst) - value]))
  return gains.length === 0 ? null : gains.reduce((sum, gain) => sum + gain, 0) / gains.length
}

/** The mean of what is known; `null` where nothing is. */
export function meanOf(earned: Earned): number | null {
  const known = [...earned.values()].filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
}
