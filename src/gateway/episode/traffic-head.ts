import { type ServedBy, TaskId, type TrafficHead, type TrajectoryId } from '../../core/index.ts'
import type { RequestContext } from '../ports.ts'
import type { Conversation } from './conversation.ts'
import { instructionOf } from './instruction.ts'
import { type Redaction, redactName, redactSession } from './redaction/index.ts'

/** What is known of a trajectory from a call of it; of the first one, it stays. */
export function headOf(
  trajectory: TrajectoryId,
  { messages }: Conversation,
  { caller, session, agent, subject }: RequestContext,
  {
    redaction,
    train,
    servedBy,
    startedAt,
  }: {
    readonly redaction: Redaction
    readonly train: boolean
    readonly servedBy: ServedBy | null
    readonly startedAt: number
  },
): TrafficHead {
  const name = (said: string | null) => (said === null ? null : redactName(said, caller.tenant, redaction))
  return {
    id: trajectory,
    origin: {
      kind: 'traffic',
      tenant: caller.tenant,
      key: caller.parent ? `${caller.parent.key}:${caller.key}` : caller.key,
      session: session === null ? null : redactSession(session, caller.tenant, redaction),
      agent: name(agent),
      subject: name(subject),
      train,
      servedBy,
    },
    task: { id: TaskId.parse(`traffic:${trajectory}`), instruction: instructionOf(messages) },
    startedAt,
  }
}
