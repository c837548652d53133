import type { Demonstration } from './demonstration.ts'

/** Two ways to go on from one context, of which people preferred one: an accepted and a rejected answer, or an edited one. */
export interface PreferencePair {
  /** `learn` marks the preferred continuation's own tokens; what comes before is the shared context. */
  readonly chosen: Demonstration
  readonly rejected: Demonstration
}
