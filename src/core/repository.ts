import type { ApiKey } from './api-key.ts'
import type { Alert, AlertKind } from './alert.ts'
import type { AuditDraw, AuditLabel, LabelOutcome } from './audit.ts'
import type { Canary, CanaryArm, CanaryEvent, CanaryWatch, JudgedSession, UnjudgedSession } from './canary.ts'
import type { HoldoutUse } from './gate.ts'
import type {
  AlertId,
  CallId,
  CanaryId,
  KeyId,
  ReceiptId,
  ReleaseId,
  RunId,
  TaskId,
  TrajectoryId,
  VersionId,
} from './id.ts'
import type { Json } from './json.ts'
import type { Lease } from './lease.ts'
import type { CandidateLevel } from './level.ts'
import type { BlobHash } from './blob-ref.ts'
import type { Version } from './parameter.ts'
import type { Receipt } from './receipt.ts'
import type { Activation, Pin, Release } from './release.ts'
import type { Reward } from './reward.ts'
import type { Checkpoint, Run, RunEvent } from './run.ts'
import type { Signal, SignalCaps, SignalOutcome } from './signal.ts'
import type { Tenant } from './tenant.ts'
import type { PendingCall, ProducedTurn, RecordedCall, RequestIdentity } from './traffic.ts'
import type { Origin, StopReason, Trajectory } from './trajectory.ts'

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

/** Which trajectories. What is left out does not narrow; times are milliseconds since the epoch. */
export interface TrajectoryFilter {
  readonly run?: RunId
  readonly tenant?: Tenant
  readonly origin?: Origin['kind']
  readonly session?: string
  readonly agent?: string
  /** One of those whom any of its calls is about. */
  readonly subject?: string
  /** Sessions that this canary assigned. */
  readonly canary?: CanaryId
  /** Sessions that a canary gave to this arm. */
  readonly arm?: CanaryArm
  /** Of those that changed last at or after, and before. */
  readonly since?: number
  readonly before?: number
}

/** A moment in the order in which trajectories began: of those that began at once, after the one of this id. */
export interface Beginning {
  readonly startedAt: number
  readonly id: string
}

/** A trajectory in a list: what its columns tell, without its messages. */
export interface TrajectorySummary {
  readonly id: TrajectoryId
  readonly origin: Origin['kind']
  readonly tenant: Tenant
  readonly session: string | null
  readonly agent: string | null
  readonly subject: string | null
  readonly train: boolean
  readonly instruction: string
  readonly stopReason: StopReason
  readonly startedAt: number
  /** When it last changed. */
  readonly updatedAt: number
  /** Calls recorded, for traffic; `null` for others. */
  readonly calls: number | null
  readonly signals: number
}

/**
 * Where bytes of what was removed still are among the database's own files.
 * - `nowhere`: they were overwritten, and the log is empty.
 * - `log`: in SQLite's write-ahead log, which somebody who reads keeps from being emptied; closing the store empties it.
 * - `dead-rows`: in rows that PostgreSQL has marked dead and its log, until its own upkeep is through with them.
 */
export type Remains = 'nowhere' | 'log' | 'dead-rows'

/** What went, or would go: rows that were removed, by kind. */
export interface Removal {
  readonly trajectories: number
  readonly signals: number
  /** Records derived from them that name their source. */
  readonly derived: number
  /** Of a person, keys of their sessions. */
  readonly keys: number
  /** Versions that were learned from them: these cannot be unlearned, and are named instead. */
  readonly versions: readonly VersionId[]
  readonly remains: Remains
}

/** Episodes with what they earned. Those of the gateway grow, call by call ({@link TrafficRepository}). */
export interface TrajectoryRepository {
  /** All of them or none. */
  append(records: readonly RecordedTrajectory[]): Promise<void>
  /** @param asOf of traffic, only calls that had ended by then, in milliseconds since the epoch; `null` when none had. */
  get(id: TrajectoryId, asOf?: number): Promise<RecordedTrajectory | null>
  /** Whose it is, and how many bytes {@link get} would read of it. */
  size(id: TrajectoryId): Promise<{ readonly tenant: Tenant; readonly bytes: number } | null>
  /** In the order of recording; `after` is the last one of the page before. */
  list(
    filter: TrajectoryFilter & { readonly limit: number; readonly after?: TrajectoryId },
  ): Promise<readonly RecordedTrajectory[]>
  /**
   * Latest change first.
   * @param filter.began only those that began after one and until a moment, the one that began first being the first: to
   * page through them; or the one that began last, with `latestFirst`.
   */
  summaries(
    filter: TrajectoryFilter & {
      readonly limit: number
      readonly began?: { readonly after: Beginning; readonly until: number; readonly latestFirst?: boolean }
    },
  ): Promise<readonly TrajectorySummary[]>
  count(filter: TrajectoryFilter): Promise<number>
  /**
   * Removes trajectories of the filter with their signals and all that recognises them again; of a subject, also what that
   * person reported of others, the keys of their sessions and what calls that began before would still write, and of a
   * time, older signals of which there is no trajectory. Those that a run made are evidence of its receipts and stay.
   * @param dryRun only counts.
   * @param now by the clock that calls begin by, in milliseconds since the epoch; the machine's by default.
   */
  remove(filter: TrajectoryFilter, options: { readonly dryRun: boolean; readonly now?: number }): Promise<Removal>
}

/** Where a conversation that comes again belongs. */
export interface KnownTurn extends ProducedTurn {
  readonly trajectory: TrajectoryId
}

/** A request that was answered before. */
export interface KnownRequest {
  readonly body: string
  readonly trajectory: TrajectoryId
  readonly call: CallId
}

/** What the gateway writes as an agent works. */
export interface TrafficRepository {
  /** Commits a call: opens its trajectory or adds to it, and clears what was pending of it. Idempotent by call. */
  append(call: RecordedCall): Promise<void>
  /** Keeps what a stream has said so far; the latest one of a call counts. */
  savePending(call: PendingCall): Promise<void>
  /**
   * Turns calls that nobody has been at since `before` into parts that say `interrupted`.
   * @returns how many.
   */
  recoverPending(before: number): Promise<number>
  /** Turns of one API key with these digests, the latest first. */
  turns(key: string, tenant: Tenant, digests: readonly string[]): Promise<readonly KnownTurn[]>
  /** What was recorded of a request with this identity; `null` when nothing was. */
  request(key: string, tenant: Tenant, identity: RequestIdentity): Promise<KnownRequest | null>
}

/** A request that is being answered and may be repeated. */
export interface ClaimedRequest {
  readonly tenant: Tenant
  readonly apiKey: string
  readonly identity: RequestIdentity
}

/** Which gateway answers a request, so that another one that gets it meanwhile does not answer it, too. */
export interface ClaimRepository {
  /**
   * Claims a request for a gateway, unless another one's claim on it has not expired.
   * @param time `ttlMs`: how long it lasts from `now` on.
   * @returns `null` once it is claimed, or what the other gateway was asked and when its claim expires.
   */
  take(
    request: ClaimedRequest,
    gateway: string,
    time: { readonly now: number; readonly ttlMs: number },
  ): Promise<{ readonly body: string; readonly expiresAt: number } | null>
  /** Makes all claims of a gateway last longer, and removes those of any gateway that expired long ago. */
  renew(gateway: string, time: { readonly now: number; readonly ttlMs: number }): Promise<void>
  /** Gives a claim up; one that another gateway has by now stays. */
  release(request: ClaimedRequest, gateway: string): Promise<void>
}

/** API keys, by their ids. */
export interface KeyRepository {
  put(key: ApiKey): Promise<void>
  get(id: KeyId): Promise<ApiKey | null>
  /**
   * Newest first.
   * @param filter `sessions: false` leaves out the keys of sessions, of which there may be very many.
   */
  list(filter: {
    readonly tenant?: Tenant
    readonly sessions?: boolean
    readonly limit: number
  }): Promise<readonly ApiKey[]>
  /** @returns whether there was such a key. Revoking again changes nothing. */
  revoke(id: KeyId, at: number): Promise<boolean>
  /**
   * Removes keys of sessions that expired before a time, the longest expired first. Other keys stay for good.
   * @param limit how many at most.
   * @returns how many.
   */
  removeExpired(before: number, limit: number): Promise<number>
}

/** Evidence about episodes, early and late: a signal may come before its trajectory. */
export interface SignalRepository {
  /**
   * A signal with a key that its tenant knows is ignored.
   * @param limits what one reporter may say, and the time it is.
   */
  append(
    signals: readonly Signal[],
    limits?: { readonly caps: SignalCaps; readonly now: number },
  ): Promise<readonly SignalOutcome[]>
  /**
   * Those that the trajectory's own tenant reported, in the order in which they happened.
   * @param tenant who asks: nothing of another tenant's trajectory is read, so that the time tells nothing of it either.
   * @param receivedBy only those that had reached the store by then, whenever they say that it happened.
   */
  of(trajectory: TrajectoryId, tenant?: Tenant, receivedBy?: number): Promise<readonly Signal[]>
  /**
   * The same, a part at a time: few enough for one answer, however much was said.
   * @param from.after the last one of the part before.
   * @param from.bytes of their values, as JSON, at most; one signal comes in any case.
   * @returns whether more follow.
   */
  page(
    trajectory: TrajectoryId,
    from: { readonly after?: Pick<Signal, 'at' | 'key'>; readonly limit: number; readonly bytes: number },
  ): Promise<{ readonly signals: readonly Signal[]; readonly more: boolean }>
  /**
   * What a reporter said last of one thing, whether or not its trajectory is there yet; `null` for nothing.
   * @param bytes the value comes only where its JSON has so many: with another length it is another value, and the time
   * that this takes does not depend on what was said before.
   */
  last(
    topic: Pick<Signal, 'tenant' | 'trajectory' | 'node' | 'source' | 'reporter' | 'name'>,
    bytes: number,
  ): Promise<(Pick<Signal, 'key' | 'at'> & { readonly value?: Json }) | null>
}

/** Learning runs, their stories and their checkpoints. */
export interface RunRepository {
  create(run: Run): Promise<void>
  update(id: RunId, change: Partial<Omit<Run, 'id' | 'agent' | 'config' | 'seed' | 'startedAt'>>): Promise<void>
  get(id: RunId): Promise<Run | null>
  /**
   * Newest first.
   * @param filter.before only those that were created before this one.
   * @param filter.endedSince leaves out those that had ended before this moment, in milliseconds since the epoch.
   */
  list(filter: {
    readonly agent?: string
    readonly before?: RunId
    readonly endedSince?: number
    readonly limit: number
  }): Promise<readonly Run[]>
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

/** The levels that an agent's candidates are tested at. */
export interface LevelRepository {
  /** Idempotent; a conflict where the number or the key is another candidate's. */
  put(level: CandidateLevel): Promise<void>
  get(agent: string, key: string): Promise<CandidateLevel | null>
  /** Of the agent's last candidate. */
  latest(agent: string): Promise<CandidateLevel | null>
  /** How many of the agent's candidates were promoted. */
  countPromoted(agent: string): Promise<number>
  /** Notes that a candidate was promoted; nothing where it has no level. */
  promoted(agent: string, key: string): Promise<void>
}

/** Releases, and the append-only history of which one served. */
export interface ReleaseRepository {
  put(release: Release): Promise<void>
  get(id: ReleaseId): Promise<Release | null>
  /**
   * Newest first.
   * @param filter.asDeclared true: those that rest on no receipt, alone: declarations, and what was joined of them.
   */
  list(filter: {
    readonly agent?: string
    readonly asDeclared?: true
    readonly limit: number
  }): Promise<readonly Release[]>
  /** @throws StoreError when another process activated a release of this agent meanwhile (generations never repeat). */
  activate(activation: Activation): Promise<void>
  /** The latest activation, which names what serves now. */
  current(agent: string): Promise<Activation | null>
  /** Oldest first: all of them, however many there are. */
  activations(agent: string): Promise<readonly Activation[]>
  /** The latest ones, newest first. */
  recent(agent: string, limit: number): Promise<readonly Activation[]>
  /** Every agent's latest activation. */
  serving(): Promise<readonly Activation[]>
  /** Pins what serves, or with `null` lets go of it. */
  pin(agent: string, pin: Pin | null): Promise<void>
  pinned(agent: string): Promise<Pin | null>
  /**
   * Grows with every change of what serves: activations, canaries, pins. Cheap: gateways ask several times a second, and
   * read the rest only when it grew.
   */
  revision(): Promise<number>
}

/** Canaries and their stories. */
export interface CanaryRepository {
  /**
   * Writes a canary, new or changed.
   * @throws StoreError when another canary of the agent runs, and when this one is no longer `running` in the store: what
   * has ended does not go on.
   */
  put(canary: Canary): Promise<void>
  get(id: CanaryId): Promise<Canary | null>
  /** Those that run, of every agent. */
  running(): Promise<readonly Canary[]>
  /** Newest first. */
  list(filter: { readonly agent?: string; readonly limit: number }): Promise<readonly Canary[]>
  /**
   * Says until when a canary is watched, in milliseconds since the epoch; a later time that was said before stays. No
   * change of what serves: the revision does not grow.
   */
  watch(canary: CanaryId, until: number): Promise<void>
  /** Until when those that run are watched. Cheap: gateways ask several times a second while one runs. */
  watched(): Promise<readonly CanaryWatch[]>
  /**
   * Keeps how sessions were judged, whose sequences go on where what is kept ends.
   * @returns false, with nothing written, where another process was quicker or a trajectory was removed meanwhile.
   * @throws StoreError when the canary runs no more: what came of it rests on what was judged before.
   */
  appendJudged(canary: CanaryId, sessions: readonly JudgedSession[]): Promise<boolean>
  /**
   * In their order, from the sequence `from` on. A trajectory that was removed is named `erased-` and the sequence: what it
   * showed stays, and names nobody.
   */
  judged(canary: CanaryId, page: { readonly from: number; readonly limit: number }): Promise<readonly JudgedSession[]>
  /** Sessions that it assigned and nobody judged, that began from `since` until `until`: in that order. */
  unjudged(
    canary: CanaryId,
    which: { readonly since: number; readonly until: number; readonly limit: number },
  ): Promise<readonly UnjudgedSession[]>
  /** How many such sessions there are, without reading them. */
  countUnjudged(
    canary: CanaryId,
    which: {
      readonly since: number
      readonly until: number
      /** Default: either. */
      readonly arm?: CanaryArm
      /** Only those that may be learned from. */
      readonly train?: true
    },
  ): Promise<number>
  /** Idempotent by canary and sequence. */
  appendEvent(event: CanaryEvent): Promise<void>
  /** Oldest first. */
  events(canary: CanaryId): Promise<readonly CanaryEvent[]>
}

/** What was drawn for the audit, and what reviewers said of it. A draw is written with its {@link JudgedSession}. */
export interface AuditRepository {
  /** Those whose truth is asked for, in the order in which sessions began, with all labels. */
  drawn(canary: CanaryId): Promise<readonly AuditDraw[]>
  /**
   * And those that only a judge is asked about.
   * @param block reads only this part of them, as {@link marks} counts them.
   */
  forJudge(canary: CanaryId, block?: number): Promise<readonly AuditDraw[]>
  get(draw: string): Promise<AuditDraw | null>
  /**
   * What its draws and labels come to, in blocks of {@link DRAWS_IN_BLOCK} sequences that hold any, in their order: another
   * text where any of a block, erased ones among them, is not what it was. Whoever keeps what they read reads only those.
   */
  marks(canary: CanaryId): Promise<readonly BlockMark[]>
  /**
   * One label of a reviewer for a draw: the last word counts. Saying the same again changes nothing. Of a session that was
   * erased no note is kept.
   * @throws StoreError for a draw that there is not.
   */
  label(label: Omit<AuditLabel, 'withdrawnAt'>): Promise<LabelOutcome>
  /** Takes back what a key said, under whatever names. @returns how many labels. */
  withdraw(which: { readonly tenant: Tenant; readonly key: KeyId; readonly at: number }): Promise<number>
}

/** Sessions of a canary, by their sequence, whose draws have one mark. */
export const DRAWS_IN_BLOCK = 128

/** What the draws of one block come to. */
export interface BlockMark {
  /** Holds the sequences from `block · DRAWS_IN_BLOCK` on. */
  readonly block: number
  readonly mark: string
}

/** What only one process may do at a time. */
export interface LeaseRepository {
  /**
   * Takes it where it is free or has expired, or keeps it for a holder that has it; `null` where another one has it.
   * @param ttlMs how long it lasts from `now` on.
   */
  acquire(name: string, holder: string, time: { readonly now: number; readonly ttlMs: number }): Promise<Lease | null>
  /** Makes it last longer; `null` when it was lost meanwhile. */
  renew(lease: Lease, time: { readonly now: number; readonly ttlMs: number }): Promise<Lease | null>
  /** Gives it up; one that was lost is no error. */
  release(lease: Lease): Promise<void>
  get(name: string): Promise<Lease | null>
}

/** What people should know. */
export interface AlertRepository {
  /** Idempotent by id; with another `run` than before, notes which run it opened. */
  put(alert: Alert): Promise<void>
  get(id: AlertId): Promise<Alert | null>
  /** Newest first. */
  list(filter: {
    readonly agent?: string
    readonly kind?: AlertKind
    readonly since?: number
    readonly limit: number
  }): Promise<readonly Alert[]>
}

/** All repositories over one database. */
export interface Repositories {
  readonly blobs: BlobRepository
  readonly versions: VersionRepository
  readonly trajectories: TrajectoryRepository
  readonly traffic: TrafficRepository
  readonly claims: ClaimRepository
  readonly keys: KeyRepository
  readonly signals: SignalRepository
  readonly runs: RunRepository
  readonly receipts: ReceiptRepository
  readonly ledger: LedgerRepository
  readonly levels: LevelRepository
  readonly releases: ReleaseRepository
  readonly canaries: CanaryRepository
  readonly audits: AuditRepository
  readonly leases: LeaseRepository
  readonly alerts: AlertRepository
}

/** One database: its repositories, and transactions over them. */
export interface Store extends Repositories {
  /**
   * Everything written through `tx` commits together, or nothing does: also when a write in it failed and the failure
   * was caught. Inside `work` only `tx` may be used, and other writes wait, so nothing slow belongs there. Blobs are
   * outside it: put them before, and what commits never lacks one.
   */
  transaction<T>(work: (tx: Repositories) => Promise<T>): Promise<T>
  /**
   * Writes a copy of everything that is committed, while others read and write.
   * @param folder must not exist or be empty.
   * @throws StoreError where the database has its own tools for this (PostgreSQL: `pg_dump`).
   */
  backup(folder: string): Promise<void>
  close(): Promise<void>
}
