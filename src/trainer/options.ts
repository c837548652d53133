import type { Clock, ModelService } from '../core/index.ts'

/** What a trainer server keeps, and how much each key may have of it. */
export interface TrainerLimits {
  /** Bytes of a request's body, and of what it is unpacked to. */
  readonly bodyBytes: number
  /** Models of one key that are loaded at once. Each holds its weights and its optimizer in memory. */
  readonly models: number
  /** Requests of one key that wait or are under way at once. */
  readonly waiting: number
  /** Largest LoRA rank. */
  readonly rank: number
  /** Adapters that are loaded for sampling at once, of all keys; others are loaded again when they are asked for. */
  readonly adapters: number
}

/** What of a model service is served. */
export type ServedModel = Pick<ModelService, 'base' | 'sampler' | 'trainer' | 'loadAdapter'>

/** What a trainer server is made of. */
export interface TrainerOptions {
  /** Whose trainers save bytes: the embedded engine. It stays the caller's. */
  readonly service: ServedModel
  /** Folder of the journal and of what was saved; one server at a time has it. */
  readonly folder: string
  /** LoRA pairs are scaled by alpha / rank; the protocol has no word for it. Default: 32. */
  readonly alpha?: number
  readonly limits?: Partial<TrainerLimits>
  /** How long a session lives without a sign of its client, in milliseconds. Default: 5 min. */
  readonly sessionMs?: number
  /** How long results are kept that nobody asked for, in milliseconds; others 5 min at most. Default: 1 h. */
  readonly resultMs?: number
  /** Work of a model, in milliseconds, that a restart does again at most, about. Default: 10 s. */
  readonly snapshotMs?: number
  /** Told of what the server cannot go on after: its process should end, and be started again. */
  readonly onFatal: (error: unknown) => void
  /** Told why weights that nothing names stay in the folder. The server starts all the same. */
  readonly onUnswept?: (error: unknown) => void
  readonly clock?: Clock
}

export const defaultLimits: TrainerLimits = {
  bodyBytes: 64 * 1024 * 1024,
  models: 16,
  waiting: 4096,
  rank: 256,
  adapters: 16,
}
