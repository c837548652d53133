import type { TaskId } from '../../../core/index.ts'

/** What a scripted policy earned on held-out tasks. */
export interface ScriptedResults {
  readonly name: string
  /**
   * Whether a candidate must beat it to be promoted, as it must a constant answer. `false` for an upper bound, as a
   * scripted expert is: it is told beside the arms.
   */
  readonly beat: boolean
  /**
   * One score for each held-out task, on the scale of the run's rubric. A score that is `null`, or not there, is missing
   * evidence: it counts against the candidate.
   */
  readonly scores: ReadonlyMap<TaskId, number | null>
}
