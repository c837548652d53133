import type { RunId } from '../core/index.ts'
import type { LearnConfig } from './learn-config.ts'

/** What decides a run of a recipe, kept with it so that it can be gone on with. */
export interface Plan {
  readonly config: LearnConfig
  readonly seed: number
  readonly control: boolean
  readonly deterministic: boolean
  /** The run to go on with; `null` for a new one. */
  readonly resume: RunId | null
}
