import type { z } from 'zod'
import type { Clock, Store, VersionId, WeightsValue } from '../../core/index.ts'
import type { FindAgent, ServedSession, ServedAgent } from '../agents/index.ts'
import type { ServeConfig } from '../config.ts'
import type { EpisodeRecorder, RecordMode } from '../ports.ts'
import type { FreshIds } from './ids.ts'
import type { Redaction } from './redaction/index.ts'

/** What a recorder works with. */
export interface EpisodeRecorderOptions {
  readonly store: Pick<Store, 'claims' | 'traffic' | 'trajectories' | 'versions'>
  readonly config: Pick<z.infer<typeof ServeConfig>, 'journalMs' | 'idempotencyHours' | 'train'>
  readonly mode: RecordMode
  readonly redaction: Redaction
  /** Finds agents that have releases. Default: there are none. */
  readonly agents?: FindAgent
  /** Told of a candidate that could not be served to a session: that gets what serves everybody else. */
  readonly onFallBack?: (agent: ServedAgent, served: ServedSession, cause: unknown) => void
  /** Told of a memory that nothing can be recalled from, with each call that goes on without. */
  readonly onNoRecall?: (memory: VersionId, cause: unknown) => void
  /** What decides when this upstream answers for this model, but for its adapter. */
  readonly weightsOf: (upstream: string, model: string) => z.infer<typeof WeightsValue>
  /**
   * Whether an upstream may sample by defaults of its own where a request says nothing: vLLM takes them from the model's
   * `generation_config.json`. Then the probability of what it sampled is known only for requests that say everything.
   * Default: yes.
   */
  readonly ownDefaults?: (upstream: string) => boolean
  /**
   * Whether no other process writes the store, as with SQLite: half answers of dead processes are then found at once, and
   * no request needs a claim.
   */
  readonly exclusive?: boolean
  /** Told of what went wrong beside the calls themselves: they go on. */
  readonly onProblem?: (error: unknown) => void
  readonly clock?: Clock
  readonly ids?: FreshIds
  /** About how much memory what is known of the store's trajectories may take. Default 64 MiB. */
  readonly memoryBytes?: number
  /** How long the last commits may take when the recorder closes, in milliseconds. Default 5 s. */
  readonly closeMs?: number
}

/** The recorder, and what only this process knows. */
export interface ForgetfulRecorder extends EpisodeRecorder {
  /** Forgets everything that is also in the store, and answers that could be repeated: to be called after an erasure. */
  forget(): void
}
