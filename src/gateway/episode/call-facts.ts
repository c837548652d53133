import type { CallId, ChatRequest, Json, TrajectoryId } from '../../core/index.ts'
import type { ShownText } from '../agents/index.ts'
import type { AttachPoint } from './attach.ts'
import type { Conversation } from './conversation.ts'
import type { Recall } from './recalls.ts'

/** What is known of a call when it begins. */
export interface CallFacts {
  readonly trajectory: TrajectoryId
  readonly call: CallId
  readonly request: ChatRequest
  readonly params: Readonly<Record<string, Json>>
  readonly conversation: Conversation
  /** The Generation of what serves; 0 for an agent without releases. */
  readonly generation: number
  /** Learned texts that the policy reads. */
  readonly texts: readonly ShownText[]
  /** What was recalled for it, and where among the messages that stands; `null` where nothing was asked. */
  readonly recalled: { readonly recall: Recall; readonly at: number | null } | null
  /** Where it may go on in its trajectory. */
  readonly candidates: readonly AttachPoint[]
  readonly retryOf: CallId | null
  readonly startedAt: number
  /** About how much work it is to go through the request: see `RequestContext`. */
  readonly weight: number
}
