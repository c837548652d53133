import type { z } from 'zod'
import type { Clock, Store, WeightsValue } from '../../core/index.ts'
import type { RecordMode } from '../ports.ts'
import type { KnownNodes } from './known-nodes.ts'
import type { Places } from './places.ts'
import type { Recalls } from './recalls.ts'
import type { Redaction } from './redaction/index.ts'
import type { VersionBook } from './version-book.ts'

/** What all calls of a recorder share. */
export interface Desk {
  readonly traffic: Store['traffic']
  readonly known: KnownNodes
  readonly recalls: Recalls
  readonly places: Places
  readonly versions: VersionBook
  readonly redaction: Redaction
  readonly mode: RecordMode
  readonly clock: Clock
  /** The name of this process. */
  readonly gateway: string
  readonly journalMs: number
  readonly beatMs: number
  readonly weightsOf: (upstream: string, model: string) => z.infer<typeof WeightsValue>
  readonly ownDefaults: (upstream: string) => boolean
  readonly onProblem: (error: unknown) => void
}
