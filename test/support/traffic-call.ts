import {
  type CallId,
  type RecordedCall,
  TaskId,
  type Tenant,
  type TrajectoryId,
  TrajectoryPart,
} from '../../src/core/index.ts'
import { answerNode } from '../../src/gateway/episode/ids.ts'

/** One recorded call of an agent's traffic: a question and its answer. */
export function trafficCall(
  trajectory: TrajectoryId,
  call: CallId,
  {
    tenant,
    subject = null,
    session = null,
    at = 1_000,
  }: {
    readonly tenant: Tenant
    readonly subject?: string | null
    readonly session?: string | null
    readonly at?: number
  },
): RecordedCall {
  const question = `q_${call}`
  return {
    head: {
      id: trajectory,
      origin: { kind: 'traffic', tenant, key: 'k', session, agent: null, subject, train: true, servedBy: null },
      task: { id: TaskId.parse('task'), instruction: 'Why?' },
      startedAt: at,
    },
    part: TrajectoryPart.parse({
      call,
      nodes: [
        { id: question, parent: null, message: { role: 'user', content: 'Why?' }, spans: [] },
        { id: answerNode(call), parent: question, message: { role: 'assistant', content: 'So.' }, spans: [] },
      ],
      steps: [{ index: 0, action: answerNode(call), observations: [], decisions: [] }],
      decisions: [],
      toolsets: {},
      stopReason: 'done',
      failure: null,
      endedAt: at + 1,
    }),
    turns: [],
    identity: null,
  }
}
