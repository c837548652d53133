import { randomUUID } from 'node:crypto'
import {
  type Activation,
  type Canary,
  CanaryId,
  type CanaryReceipt,
  contentHash,
  type Json,
  type PairedReceipt,
  type Release,
  type Repositories,
  type RunId,
  type Version,
} from '../core/index.ts'
import { InvariantError } from '../errors/index.ts'
import {
  CanaryEndedError,
  CanaryRunningError,
  NothingToTryError,
  PinnedError,
  ServingChangedError,
} from './canary-errors.ts'
import {
  assertOfCanary,
  canaryOf,
  type CanaryNote,
  defaultWatchMs,
  percentOf,
  runningCanary,
  shareOf,
  stillRunning,
  writeCanary,
} from './canary-record.ts'
import { levelKeyOf, withLevel } from './candidate-level.ts'
import { StaleReceiptError, UnknownAgentError } from './errors.ts'
import { assertComplete, assertGenuine } from './gated.ts'
import { patched, patchOf, standingOf } from './patch.ts'
import {
  activate,
  differences,
  newRelease,
  releaseById,
  releaseOf,
  servesOtherwise,
  versionSetOf,
} from './release-record.ts'

/** The rules that a canary runs by: the name and the configuration of its gate, and the shares that it goes through. */
export interface CanaryRules {
  readonly name: string
  readonly config: Readonly<Record<string, Json>>
  /** Shares of sessions that get the candidate, rising; in (0, 1]. */
  readonly shares: readonly number[]
}

/** A candidate to be tried. */
export interface NewCanary {
  readonly agent: string
  /**
   * The candidate's versions; what they do not name stays as it serves, also where that changes while it runs. Those that the
   * store has already may be left out where there is an admission.
   */
  readonly versions: readonly Version[]
  /** The promoting receipt on held-out tasks; `null` where there is no suite: the evidence is the canary's alone. */
  readonly admission: PairedReceipt | null
  /** The run that made it; `null` when no run did. */
  readonly run: RunId | null
  readonly gate: CanaryRules
  /** Keys the assignment of sessions. Default: random, so that no client can choose its arm. */
  readonly salt?: string
  /** Milliseconds since the epoch. Default: now. */
  readonly at?: number
  /** Throws where whoever starts it may write no more; asked in the transaction. */
  readonly mayWrite?: (tx: Repositories) => Promise<void>
}

/**
 * To be asked after the first write of a change: from then on no other process changes what serves.
 * @throws PinnedError
 */
export async function assertNotPinned({ releases }: Pick<Repositories, 'releases'>, agent: string): Promise<void> {
  const pin = await releases.pinned(agent)
  if (pin) throw new PinnedError(agent, pin.reason)
}

/** What serves, inside a transaction. */
export async function servingIn(
  tx: Pick<Repositories, 'releases'>,
  agent: string,
): Promise<{ readonly activation: Activation; readonly release: Release }> {
  const activation = await tx.releases.current(agent)
  if (!activation) throw new UnknownAgentError(agent)
  return { activation, release: await releaseOf(tx, activation) }
}

/** Starts a canary; {@link Registry.startCanary} says what is refused. */
export async function start(tx: Repositories, options: NewCanary, at: number): Promise<Canary> {
  const { agent, versions, admission, run, gate } = options
  await options.mayWrite?.(tx)
  const { activation, release } = await servingIn(tx, agent)
  const compared = admission?.baseline ?? release.versions
  const candidate = patchOf(admission?.candidate ?? versionSetOf(versions), compared)
  const key = { agent, baseline: release.id, candidate, admission: admission?.id ?? null, by: run ?? at }
  const id = CanaryId.parse(contentHash(key).slice(0, 16))
  const earlier = await tx.canaries.get(id)
  if (earlier?.status === 'running') return earlier
  if (earlier) throw new CanaryEndedError(earlier)
  const other = await runningCanary(tx, agent)
  if (other) {
    const tries = await standingOf(tx, other, release)
    // What serves may have changed since the run began it: so it has another name.
    if (run !== null && other.run === run && differences(tries.patch, candidate).length === 0) return other
    throw new CanaryRunningError(agent, other.id, Object.keys(tries.patch))
  }
  // What else changed since is the same in both of its arms, which are compared anew.
  const changed = await servesOtherwise(tx, release, compared)
  if (admission && Object.keys(candidate).some((parameter) => changed.includes(parameter))) {
    throw new StaleReceiptError(admission.id, release.id)
  }
  if (Object.keys(candidate).length === 0) throw new NothingToTryError(agent, release.id)

  const gated = { id: admission?.id ?? id, baseline: release.versions, candidate: patched(release.versions, candidate) }
  assertGenuine(versions, gated)
  for (const version of versions) await tx.versions.put(version)
  await assertComplete(tx, gated)
  if (admission) await tx.receipts.put(admission)
  const reason = `${percentOf(gate.shares[0] ?? 0)} of the sessions get the candidate`
  const tested = { id, agent, run, admission: admission?.id ?? null }
  const canary: Canary = {
    ...tested,
    baseline: release.id,
    candidate,
    gate: await withLevel(tx, tested, { name: gate.name, config: gate.config }, at),
    shares: [...gate.shares],
    step: 0,
    salt: options.salt ?? randomUUID(),
    // The one that it would have as a release now.
    generation: activation.generation + 1,
    status: 'running',
    receipt: null,
    reason,
    startedAt: at,
    stepAt: at,
    endedAt: null,
  }
  const evidence = { admission: admission?.id ?? 'canary-only' }
  await writeCanary(tx, canary, 'started', { reasons: [reason], evidence }, at)
  await tx.canaries.watch(id, at + defaultWatchMs)
  await assertUnchanged(tx, activation)
  return canary
}

/**
 * Holds that nothing changed while a change was written: from its first write on, no other process changes what serves.
 * @throws PinnedError | ServingChangedError
 */
async function assertUnchanged(tx: Pick<Repositories, 'releases'>, { agent, generation }: Activation): Promise<void> {
  await assertNotPinned(tx, agent)
  const now = await tx.releases.current(agent)
  if (now?.generation !== generation) throw new ServingChangedError(agent)
}

/** Goes on to the next share, if the canary stands where `seen` stood. */
export async function advance(tx: Repositories, seen: Canary, note: CanaryNote, at: number): Promise<Canary> {
  const canary = await stillRunning(tx, seen.id)
  if (canary.step !== seen.step) return canary
  const next: Canary = { ...canary, step: canary.step + 1, stepAt: at }
  if (next.step >= next.shares.length) throw new InvariantError(`canary ${canary.id} has no share after its last`)
  const reason = `${percentOf(shareOf(next))} of the sessions get the candidate: ${note.reasons[0] ?? 'the gate says so'}`
  const advanced = await writeCanary(tx, { ...next, reason }, 'advanced', note, at)
  await assertNotPinned(tx, canary.agent)
  return advanced
}

/** What came of a canary that was promoted. */
export interface PromotedCanary {
  readonly canary: Canary
  readonly release: Release
}

/** Makes the release that a canary's receipt promotes, and closes the canary. */
export async function promote(tx: Repositories, receipt: CanaryReceipt, at: number): Promise<PromotedCanary> {
  const canary = await canaryOf(tx, receipt.canary)
  const release = newRelease(
    { agent: canary.agent, versions: receipt.candidate, createdAt: at },
    { receipt: receipt.id, run: canary.run },
  )
  if (canary.status === 'promoted' && canary.receipt === receipt.id) {
    return { canary, release: await releaseById(tx, release.id) }
  }
  if (canary.status !== 'running') throw new CanaryEndedError(canary)
  const { activation, release: serving } = await servingIn(tx, canary.agent)
  const { patch, candidate, stale } = await standingOf(tx, canary, serving)
  assertOfCanary(canary, patch, receipt)
  const asServed = [differences(serving.versions, receipt.baseline), differences(candidate, receipt.candidate)]
  if (stale.length > 0 || asServed.flat().length > 0) throw new StaleReceiptError(receipt.id, serving.id)
  await assertComplete(tx, receipt)
  await tx.receipts.put(receipt)
  await tx.releases.put(release)
  await tx.levels.promoted(canary.agent, levelKeyOf(canary))
  await activate(tx, activation, release, 'promote', at)
  await assertNotPinned(tx, canary.agent)
  const reason = receipt.reasons[0] ?? 'the gate promotes it'
  const promoted: Canary = { ...canary, status: 'promoted', receipt: receipt.id, reason, endedAt: at }
  return { release, canary: await writeCanary(tx, promoted, 'promoted', receipt, at) }
}
