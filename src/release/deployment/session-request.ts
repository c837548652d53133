import { z } from 'zod'
import { ClientName, Json, Task } from '../../core/index.ts'

/** One session of a deployed agent. */
export interface SessionRequest {
  /** What is asked, in the user's words; not empty. */
  readonly instruction: string
  /** What the environment needs to know beside it; the agent never sees it. */
  readonly data?: Task['data']
  /** Your own name for the session: at most 256 printable characters. */
  readonly session?: string
  /**
   * The person that it is about, as the session is named: `ratchet erase` goes by it, and a canary gives all sessions of a
   * person one arm.
   */
  readonly subject?: string
  /** Whether it may be learned from. Default true. */
  readonly train?: boolean
  /** Fires when nobody waits for it any more: its environment and its weights stop, and it is recorded as `cancelled`. */
  readonly signal?: AbortSignal
}

/** What a {@link SessionRequest} must be: its session is kept, and what is kept must be readable. */
export const AskedSession = z.object({
  instruction: Task.shape.instruction,
  data: Json.default(null),
  session: ClientName.nullable().default(null),
  subject: ClientName.nullable().default(null),
  train: z.boolean().default(true),
  signal: z.instanceof(AbortSignal).optional(),
})
