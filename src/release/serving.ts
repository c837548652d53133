import type { Activation, Canary, CanaryReceipt, Release } from '../core/index.ts'
import type { CanaryNote } from './canary-record.ts'

/** What serves an agent: a release, and the activation that let it. */
export interface Serving {
  readonly release: Release
  /** Its `generation` is what decisions made now carry. */
  readonly activation: Activation
}

/** Why a canary goes back or is given up. */
export interface CanaryStop extends CanaryNote {
  /** What shows it; left out when it is stopped by hand. */
  readonly receipt?: CanaryReceipt
  /** Sessions that had the candidate, where they were counted. */
  readonly exposed?: number
  /** Milliseconds since the epoch. Default: now. */
  readonly at?: number
}

/** What went back. */
export interface WentBack {
  /** What serves everybody now. */
  readonly release: Release
  /** The canary that went back; `null` when none ran. */
  readonly canary: Canary | null
}
