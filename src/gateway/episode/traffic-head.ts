import { type ServedBy, TaskId, type TrafficHead, type TrajectoryId } from '../../core/index.ts'
import type { RequestContext } from '../ports.ts'
import type { Conversation } from './conversation.ts'
import { instructionOf } from './instruction.ts'
import { type Redaction, redactName, redactSession } from './redaction/index.ts'

/** The key that a session is recorded under: a session key's with the key that made it. */
export function ownerKey({ caller: { parent, key } }: Pick<RequestContext, 'caller'>): string {
  return parent ? `${parent.key}:${key}` : key
}

/** What is known of a trajectory from a call of it; of the first one, it stays. */
export function headOf(
  trajectory: TrajectoryId,
  { messages }: Conversation,
  context: RequestContext,
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
  const { caller, session, agent, subject } = context
  const name = (said: string | null) => (said === null ? null : redactName(said, caller.tenant, redaction))
  return {
    id: trajectory,
    origin: {
      kind: 'traffic',
      tenant: caller.tenant,
      key: ownerKey(context),
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
