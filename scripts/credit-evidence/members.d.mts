import type { Rng } from '../../src/core/index.ts'
import type { Act, Policy } from './policy.mjs'

interface Task {
  /** The members who matter. */
  readonly kind: readonly number[]
  readonly cues: readonly number[]
  readonly outcome: 'all' | 'parts'
}
interface Deed {
  readonly acts: readonly Act[]
  readonly chosen: number
}

export const worth: (policy: Policy, world: Pick<Task, 'outcome'>) => number
export const deedsOf: (policy: Policy, cues: readonly number[], draw: Rng) => Deed[]
export const earned: (task: Task, deeds: readonly Deed[], coalition: readonly number[]) => number
