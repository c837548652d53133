import { z } from 'zod'
import { sha256 } from '../../core/index.ts'

const BUCKETS = 1024
/** Seen so often before anything is seen. */
const PRIOR = 0.5
/** Longer instructions are read to here: their beginning says what they are about, and reading stays bounded. */
const MOST_CHARACTERS = 20_000

/** How often hashed features of tasks were seen: what the usual tasks are made of. JSON. */
export const TaskModel = z.strictObject({
  /** Tasks that it was made of. */
  tasks: z.int().nonnegative(),
  /** Features of those tasks. */
  total: z.int().nonnegative(),
  /** Counts by bucket; buckets that were never seen are left out. */
  counts: z.record(z.string(), z.int().positive()),
})
export type TaskModel = z.infer<typeof TaskModel>

export const NO_TASKS: TaskModel = { tasks: 0, total: 0, counts: {} }

/**
 * What a task is made of: the different words of its instruction, in lower case, every number as one and the same, and
 * the names of the tools that it comes with; each hashed into one of 1,024 buckets. No word is kept.
 */
export function featuresOf(instruction: string, tools: readonly string[]): readonly number[] {
  const words =
    instruction
      .slice(0, MOST_CHARACTERS)
      .toLowerCase()
      .match(/\p{L}+|\p{N}+/gu) ?? []
  const features = [
    ...words.map((word) => `word ${/\p{N}/u.test(word) ? '#' : word}`),
    ...tools.map((tool) => `tool ${tool}`),
  ]
  return [...new Set(features)].map((feature) => Number.parseInt(sha256(feature).slice(0, 8), 16) % BUCKETS)
}

/** The model with one more task. */
export function withTask(model: TaskModel, features: readonly number[]): TaskModel {
  const counts = { ...model.counts }
  for (const feature of features) counts[feature] = (counts[feature] ?? 0) + 1
  return { tasks: model.tasks + 1, total: model.total + features.length, counts }
}

/**
 * How strange a task is to the model: the mean negative log probability of its features, in nats, each count raised by a
 * half; `null` without features. The mean and not the sum: a long task is not strange for its length.
 */
export function noveltyOf({ total, counts }: TaskModel, features: readonly number[]): number | null {
  if (features.length === 0) return null
  const surprise = (feature: number) => Math.log((total + PRIOR * BUCKETS) / ((counts[feature] ?? 0) + PRIOR))
  return features.reduce((sum, feature) => sum + surprise(feature), 0) / features.length
}
