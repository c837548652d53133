import {
  type Activation,
  AlertId,
  type CanaryReceipt,
  contentHash,
  type PairedReceipt,
  type Pin,
  type ReceiptId,
  type Release,
  type ReleaseId,
  type Repositories,
  type RunId,
  type Version,
} from '../core/index.ts'
import { promotedByCanary } from './audit/promoted.ts'
import { assertNotPinned, servingIn } from './canary-changes.ts'
import { OtherCanaryError } from './canary-errors.ts'
import { activatedBeside, endBeside } from './beside.ts'
import { appendEvent, canaryOf, runningCanary } from './canary-record.ts'
import {
  NothingToRollBackToError,
  NotServingError,
  SpentReceiptError,
  StaleReceiptError,
  UnknownAgentError,
  UnknownReleaseError,
} from './errors.ts'
import { assertComplete, assertGenuine } from './gated.ts'
import { patchOf } from './patch.ts'
import {
  activate,
  differences,
  keepRelease,
  newRelease,
  releaseById,
  releaseOf,
  servedBefore,
  servesOtherwise,
} from './release-record.ts'

/*
 * What Registry does inside its transactions; it says what each refuses.
 */

/** What a gate promoted. */
export interface Promotion {
  readonly receipt: PairedReceipt
  /** The candidate's versions; those that the store has already may be left out. */
  readonly versions: readonly Version[]
  readonly run: RunId | null
  /** Milliseconds since the epoch. Default: now. */
  readonly at?: number
  /** Throws when whoever asks may not write any more: asked in the transaction, before anything is written. */
  readonly mayWrite?: (tx: Repositories) => Promise<void>
}

/** Makes the release that a receipt on held-out tasks promotes. */
export async function release(
  tx: Repositories,
  { receipt, versions, run, mayWrite }: Promotion,
  at: number,
): Promise<Release> {
  await mayWrite?.(tx)
  const { agent, candidate } = receipt
  assertGenuine(versions, receipt)
  const made = newRelease({ agent, versions: candidate, createdAt: at }, { receipt: receipt.id, run })
  const { activation, release: serving } = await servingIn(tx, agent)
  const earlier = await tx.releases.get(made.id)
  if (earlier) {
    if (serving.receipt === receipt.id) return earlier
    throw new SpentReceiptError(receipt.id, earlier.id)
  }
  const changed = await servesOtherwise(tx, serving, receipt.baseline)
  if (changed.length > 0) throw new StaleReceiptError(receipt.id, serving.id)
  for (const version of versions) await tx.versions.put(version)
  await assertComplete(tx, receipt)
  await tx.receipts.put(receipt)
  await tx.releases.put(made)
  if (run !== null) await tx.levels.promoted(agent, run)
  const activated = await activate(tx, activation, made, 'promote', at)
  await assertNotPinned(tx, agent)
  await activatedBeside(tx, serving, activated, made)
  return made
}

/** Lets an earlier release serve everybody. */
export async function rollBack(
  tx: Repositories,
  agent: string,
  to: ReleaseId | undefined,
  at: number,
): Promise<Release> {
  const history = await tx.releases.activations(agent)
  const current = history.at(-1)
  if (!current) throw new UnknownAgentError(agent)
  const target = to ?? servedBefore(history, current)
  if (target === null) throw new NothingToRollBackToError(agent)
  const back = await tx.releases.get(target)
  if (back?.agent !== agent) throw new UnknownReleaseError(agent, target)
  const canary = await runningCanary(tx, agent)
  if (back.id === current.release) {
    if (canary) await endBeside(tx, canary, back, at)
    return back
  }
  const activated = await activate(tx, current, back, 'rollback', at)
  await tell(tx, current, back, at)
  // Who names the agent as it was before it learned lets nothing learned serve anybody.
  if (canary && to !== undefined && back.receipt === null) await endBeside(tx, canary, back, at)
  else await activatedBeside(tx, await releaseOf(tx, current), activated, back)
  return back
}

/** Takes back a release whose canary's audit speaks against it now. */
export async function takeBack(
  tx: Repositories,
  receipt: CanaryReceipt,
  reasons: readonly string[],
  at: number,
): Promise<Release> {
  const { agent } = receipt
  const canary = await canaryOf(tx, receipt.canary)
  const promoted = await promotedByCanary(tx, agent)
  if (canary.agent !== agent || promoted?.canary.id !== canary.id) {
    throw new OtherCanaryError(receipt.id, canary.id, 'what serves did not come from it')
  }
  const { activation, cameIn, release: serving } = promoted
  await tx.receipts.put(receipt)
  await assertNotPinned(tx, agent)
  const before = servedBefore(await tx.releases.activations(agent), cameIn)
  const back = await without(tx, await releaseById(tx, before ?? canary.baseline), serving, receipt, at)
  const activated = await activate(tx, activation, back, 'rollback', at)
  const note = { reasons, evidence: { ...receipt.evidence, receipt: receipt.id } }
  await appendEvent(tx, canary, 'rolled-back', note, at)
  await tell(tx, activation, back, at, { receipt: receipt.id, reason: reasons[0] ?? 'its audit says otherwise now' })
  await activatedBeside(tx, serving, activated, back)
  return back
}

/**
 * What serves without what a canary brought: the release before it, and with it what its owner declared since, as a release
 * that rests on what that one did.
 */
async function without(
  tx: Repositories,
  before: Release,
  serving: Release,
  { baseline, candidate }: Pick<CanaryReceipt, 'baseline' | 'candidate'>,
  at: number,
): Promise<Release> {
  const versions = { ...serving.versions }
  for (const [parameter, id] of Object.entries(patchOf(candidate, baseline))) {
    if (versions[parameter] !== id) continue
    const was = before.versions[parameter]
    if (was === undefined) delete versions[parameter]
    else versions[parameter] = was
  }
  if (differences(versions, before.versions).length === 0) return before
  const { receipt, run, agent } = before
  const origin = receipt === null ? { receipt, run: null } : { receipt, run }
  return keepRelease(tx, newRelease({ agent, versions, createdAt: at }, origin))
}

/** Holds what serves. */
export async function pin(
  tx: Repositories,
  agent: string,
  { reason, release: named, at }: { readonly reason: string; readonly release?: ReleaseId; readonly at: number },
): Promise<Pin> {
  const { release: serving } = await servingIn(tx, agent)
  if (named !== undefined && named !== serving.id) throw new NotServingError(agent, named, serving.id)
  const made: Pin = { agent, release: serving.id, reason, at }
  await tx.releases.pin(agent, made)
  return made
}

/** Tells that a release went back. */
async function tell(
  tx: Pick<Repositories, 'alerts'>,
  from: Activation,
  to: Release,
  at: number,
  shown?: { readonly receipt: ReceiptId; readonly reason: string },
): Promise<void> {
  const { agent, release: gone, generation } = from
  await tx.alerts.put({
    id: AlertId.parse(contentHash({ agent, rollback: generation }).slice(0, 16)),
    agent,
    kind: 'rollback',
    name: gone,
    message: `The release ${gone} was rolled back: ${to.id} serves again.${shown ? ` ${shown.reason}` : ''}`,
    evidence: { from: gone, to: to.id, generation: generation + 1, ...(shown && { receipt: shown.receipt }) },
    run: null,
    at,
  })
}
