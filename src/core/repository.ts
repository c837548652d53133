import type { HoldoutUse, Receipt } from './gate.ts'
import type { ReceiptId, ReleaseId, RunId, TaskId, TrajectoryId, VersionId } from './id.ts'
import type { BlobHash, Version } from './parameter.ts'
import type { Activation, Release } from './release.ts'
import type { Reward } from './reward.ts'
import type { Checkpoint, Run, RunEvent } from './run.ts'
import type { Signal } from './signal.ts'
import type { Trajectory } from './trajectory.ts'

/**
 * The repository ports: everything durable. A promise that resolves means committed (invariant 8). Records that are
 * written once (versions, receipts, trajectories, events) are idempotent: writing an equal one again changes nothing,
 * writing a different one under the same id is an error.
 */

/** Bytes by content: adapters, optimizer states. */
export interface BlobRepository {
  /** The bytes must not change before it resolves. */
  put(bytes: Uint8Array): Promise<BlobHash>
  /** @throws StoreError when there is no such blob or its bytes do not match their hash. */
  get(hash: BlobHash): Promise<Uint8Array>
  /**
   * Forgets a blob, unless a Version or a run's latest checkpoint names it; one that is not there is no error. Not
   * inside a transaction, whose end could not bring it back, and not while equal bytes are being put.
   */
  delete(hash: BlobHash): Promise<void>
}

/** Values of Parameters, by content. */
export interface VersionRepository {
  /** A value that is known keeps the parents and the run that it was first minted with. */
  put(version: Version): Promise<void>
  get(id: VersionId): Promise<Version | null>
}

/** A trajectory as it is listed: with the run that produced it and what it earned. */
export interface RecordedTrajectory {
  readonly trajectory: Trajectory
  readonly reward: Reward
  readonly run: RunId | null
}

/** Episodes with what they earned. */
export interface TrajectoryRepository {
  /** All of them or none. */
  append(records: readonly RecordedTrajectory[]): Promise<void>
  get(id: TrajectoryId): Promise<RecordedTrajectory | null>
  /** In the order of recording. */
  list(filter: { readonly run?: RunId; readonly limit: number }): Promise<readonly RecordedTrajectory[]>
  count(filter: { readonly run?: RunId }): Promise<number>
}

/** Evidence about episodes, early and late. */
export interface SignalRepository {
  /** A signal with a known key is ignored. */
  append(signals: readonly Signal[]): Promise<void>
  of(trajectory: TrajectoryId): Promise<readonly Signal[]>
}

/** Learning runs, their stories and their checkpoints. */
export interface RunRepository {
  create(run: Run): Promise<void>
  update(id: RunId, change: Partial<Omit<Run, 'id' | 'agent' | 'config' | 'seed' | 'startedAt'>>): Promise<void>
  get(id: RunId): Promise<Run | null>
  /** Newest first. */
  list(filter: { readonly agent?: string; readonly limit: number }): Promise<readonly Run[]>
  appendEvents(events: readonly RunEvent[]): Promise<void>
  events(run: RunId): Promise<readonly RunEvent[]>
  saveCheckpoint(checkpoint: Checkpoint): Promise<void>
  latestCheckpoint(run: RunId): Promise<Checkpoint | null>
}

/** Gates' receipts. */
export interface ReceiptRepository {
  put(receipt: Receipt): Promise<void>
  get(id: ReceiptId): Promise<Receipt | null>
}

/** The holdout ledger: append-only. */
export interface LedgerRepository {
  /** @param tasks those that `use.holdout` is the hash of. */
  append(use: HoldoutUse, tasks: readonly TaskId[]): Promise<void>
  /** Every use of a holdout that shares a task with these, in the order of their numbers. */
  uses(tasks: readonly TaskId[]): Promise<readonly HoldoutUse[]>
}

/** Releases, and the append-only history of which one served. */
export interface ReleaseRepository {
  put(release: Release): Promise<void>
  get(id: ReleaseId): Promise<Release | null>
  /** Newest first. */
  list(filter: { readonly agent?: string; readonly limit: number }): Promise<readonly Release[]>
  /** @throws StoreError when another process activated a release of this agent meanwhile (generations never repeat). */
  activate(activation: Activation): Promise<void>
  /** The latest activation, which names what serves now. */
  current(agent: string): Promise<Activation | null>
  /** Oldest first. */
  activations(agent: string): Promise<readonly Activation[]>
}

/** All repositories over one database. */
export interface Repositories {
  readonly blobs: BlobRepository
  readonly versions: VersionRepository
  readonly trajectories: TrajectoryRepository
  readonly signals: SignalRepository
  readonly runs: RunRepository
  readonly receipts: ReceiptRepository
  readonly ledger: LedgerRepository
  readonly releases: ReleaseRepository
}

/** One database: its repositories, and transactions over them. */
export interface Store extends Repositories {
  /**
   * Everything written through `tx` commits together, or nothing does: also when a write in it failed and the failure
   * was caught. Inside `work` only `tx` may be used, and other writes wait, so nothing slow belongs there. Blobs are
   * outside it: put them before, and what commits never lacks one.
   */
  transaction<T>(work: (tx: Repositories) => Promise<T>): Promise<T>
  close(): Promise<void>
}
