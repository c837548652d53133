import type { Rubric, Signal, Trajectory } from '../../core/index.ts'

/** What a verifier is shown of a session that was drawn. */
export interface AuditedSession {
  /** With its final state, as it is now. */
  readonly trajectory: Trajectory
  readonly signals: readonly Signal[]
  /** Milliseconds since the epoch. */
  readonly asOf: number
  /** Aborted when its time is over. */
  readonly signal: AbortSignal
}

/**
 * Judges a session by what came of it, which the agent cannot please: from 0, wrong, to 1, right. It may be slow and may
 * fail: then it is asked again, and in the end its word is missing, which is `null` and never 0.
 */
export type AuditVerifier = (session: AuditedSession) => Promise<number | boolean | null> | number | boolean | null

/** A rubric as a verifier: from its floor, 0, to its ceiling, 1. Give it one that reads no behaviour of people. */
export function rubricVerifier(rubric: Rubric): AuditVerifier {
  return async ({ trajectory, signals, asOf }) => {
    const { value } = await rubric.score(trajectory, signals, asOf)
    return value === null ? null : (value - rubric.floor) / (rubric.ceiling - rubric.floor)
  }
}
