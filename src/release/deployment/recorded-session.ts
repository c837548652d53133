import { z } from 'zod'
import {
  CallId,
  type RecordedCall,
  TrafficHead,
  type TrafficOrigin,
  type Trajectory,
  TrajectoryPart,
} from '../../core/index.ts'
import { unreadableSession } from './errors.ts'

/**
 * A session as the store keeps traffic: one that is over is a single part.
 * @throws DeploymentError for one that nobody could read again, as where a program says what is no message: it is not kept.
 */
export function recordedSession(trajectory: Trajectory, origin: TrafficOrigin): RecordedCall {
  const { id, task, startedAt, seconds } = trajectory
  const { nodes, steps, decisions, toolsets, stopReason, failure } = trajectory
  const endedAt = startedAt + seconds * 1000
  const head = { id, origin, task: { id: task.id, instruction: task.instruction }, startedAt }
  const part = { call: CallId.parse(id), nodes, steps, decisions, toolsets, stopReason, failure, endedAt }
  const { error } = Kept.safeParse(asRead({ ...part, ...head }))
  if (error) throw unreadableSession(id, error)
  return { head, part, turns: [], identity: null }
}

const Kept = z.object({ ...TrafficHead.shape, ...TrajectoryPart.shape })

/** As it comes back: JSON leaves out what is undefined. What JSON cannot hold stays, to be refused. */
function asRead(record: object): unknown {
  try {
    return JSON.parse(JSON.stringify(record))
  } catch {
    return record
  }
}
