import { CallId, type RecordedCall, type TrafficOrigin, type Trajectory } from '../../core/index.ts'

/** A session as the store keeps traffic: one that is over is a single part. */
export function recordedSession(trajectory: Trajectory, origin: TrafficOrigin): RecordedCall {
  const { id, task, startedAt, seconds } = trajectory
  const { nodes, steps, decisions, toolsets, stopReason, failure } = trajectory
  const endedAt = startedAt + seconds * 1000
  return {
    head: { id, origin, task: { id: task.id, instruction: task.instruction }, startedAt },
    part: { call: CallId.parse(id), nodes, steps, decisions, toolsets, stopReason, failure, endedAt },
    turns: [],
    identity: null,
  }
}
