import type { ServedBy } from './canary.ts'
import type { TrajectoryId } from './id.ts'
import type { ParameterName, Version } from './parameter.ts'

/** What answers one session of an agent: the Versions in force, and how it came to get them. */
export interface Assignment {
  readonly servedBy: ServedBy
  readonly versions: ReadonlyMap<ParameterName, Version>
  /** The Generation that its decisions carry. */
  readonly generation: number
  /** False for the agent as it was before it learned: its requests go on exactly as they came (invariant 9). */
  readonly learned: boolean
}

/** Whose session it is, as it is recorded: the id of the API key, and the name that its client gave; `null` without one. */
export interface SessionOwner {
  readonly key: string
  readonly subject: string | null
}

/** Says which release, or which arm of a canary, answers a session. It knows what serves; it never waits for the store. */
export interface SessionRouter {
  /**
   * @param agent its {@link agentKey}.
   * @param known what served the session when it began; `null` for a new one. A session keeps its arm while its canary
   * runs, and gets what serves everybody once it has ended.
   * @param owner whose session it is: all sessions of a person may get one arm. Default: nobody's.
   * @returns `null` for an agent without releases.
   */
  assign(agent: string, session: TrajectoryId, known: ServedBy | null, owner?: SessionOwner): Assignment | null
}
