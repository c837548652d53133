/** A demonstration that was played again. */
export interface PlayedDemonstration {
  /** Its number among all, from 1. */
  readonly number: number
  /** Its calls that tools answered with an error. */
  readonly refusedCalls: number
  /** `null`: there is no evidence. */
  readonly reward: number | null
}
