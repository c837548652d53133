import { randomFillSync } from 'node:crypto'
import { CallId, NodeId, type Tenant, TrajectoryId } from '../../core/index.ts'
import { pseudonymDigits, sessionPseudonym } from './redaction/pseudonym.ts'

/** 24 lower-case hexadecimal digits that nobody has had before. */
export type FreshIds = () => string

const digits = 24
const idBytes = digits / 2

/** Randomness for many ids at once: asking the machine for it costs more than what is left to do. */
const drawn = Buffer.alloc(256 * idBytes)
let used = drawn.length

/** From the machine's own randomness. */
export const randomIds: FreshIds = () => {
  if (used === drawn.length) {
    randomFillSync(drawn)
    used = 0
  }
  used += idBytes
  return drawn.toString('hex', used - idBytes, used)
}

const hex = '[0-9a-f]{24}'
const responseId = new RegExp(`^(?:chatcmpl-|resp_)(${hex})-(${hex})$`)

/**
 * The trajectory of a session that the client named: known before anything of it is stored, so that evidence can come
 * first. The name is the tenant's: whichever of its keys says it means the same episode. So does what stands for the name
 * where that must not be written.
 */
export function trajectoryOfSession(tenant: Tenant, session: string): TrajectoryId {
  const name = pseudonymDigits(session) === null ? sessionPseudonym(tenant, session) : session
  return TrajectoryId.parse(`t_${pseudonymDigits(name)}`)
}

/** A trajectory that no name leads to. */
export function freshTrajectory(fresh: FreshIds): TrajectoryId {
  return TrajectoryId.parse(`t_${fresh()}`)
}

export function freshCall(fresh: FreshIds): CallId {
  return CallId.parse(`c_${fresh()}`)
}

/** The node of what a call said, known before the call is committed. `choice` is the answer's index (`n` > 1). */
export function answerNode(call: CallId, choice = 0): NodeId {
  return NodeId.parse(`n_${call.slice(2)}_${choice}`)
}

/**
 * The id that a client sees on an answer: it says which call of which trajectory it is, so that evidence about the answer
 * needs no look-up and may come before the commit.
 * @param prefix `resp_` in the Responses API.
 */
export function responseIdOf(
  trajectory: TrajectoryId,
  call: CallId,
  prefix: 'chatcmpl-' | 'resp_' = 'chatcmpl-',
): string {
  return `${prefix}${trajectory.slice(2)}-${call.slice(2)}`
}

/** What an answer's id names. That somebody knows the id does not say that the trajectory is theirs. */
export interface NamedAnswer {
  readonly trajectory: TrajectoryId
  readonly call: CallId
  /** The node of its first choice. */
  readonly node: NodeId
}

/** Reads an id that {@link responseIdOf} made; `null` for any other text. */
export function readResponseId(id: string): NamedAnswer | null {
  const [, trajectory, call] = responseId.exec(id) ?? []
  if (trajectory === undefined || call === undefined) return null
  const named = CallId.parse(`c_${call}`)
  return { trajectory: TrajectoryId.parse(`t_${trajectory}`), call: named, node: answerNode(named) }
}
