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
  type VersionSet,
} from '../core/index.ts'
import { retiredIn } from '../gate/index.ts'
import { isOf } from './audit/promoted.ts'
import { assertNotPinned, servingIn } from './canary-changes.ts'
import { type CameIn, servingSince, type ServingSince } from './came-in.ts'
import { OtherCanaryError } from './canary-errors.ts'
import { activatedBeside, endBeside } from './beside.ts'
import { appendEvent, canaryOf, runningCanary } from './canary-record.ts'
import { releaseResting } from './declare.ts'
import {
  NothingToRollBackToError,
  NotServingError,
  SpentReceiptError,
  StaleReceiptError,
  UnknownAgentError,
  UnknownReleaseError,
} from './errors.ts'
import { assertComplete, assertGenuine } from './gated.ts'
import { activate, newRelease, releaseOf, servedBefore, servesOtherwise } from './release-record.ts'

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
  // A true retirement is easily had: counted, it would let gains through that less speaks for.
  if (run !== null && retiredIn(receipt) === null) await tx.levels.promoted(agent, run)
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
  // What a promotion was taken out of came in by no gate itself: a step back takes out the next one.
  const back = target === null ? await withoutLatest(tx, agent, at) : await tx.releases.get(target)
  if (target === null && back === null) throw new NothingToRollBackToError(agent)
  if (back?.agent !== agent) throw new UnknownReleaseError(agent, target ?? '')
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

/**
 * Takes back what a canary brought, as its audit speaks against it now: of each Parameter that still serves what its
 * promotion brought, what served before. Parameters that changed since keep what they have.
 */
export async function takeBack(
  tx: Repositories,
  receipt: CanaryReceipt,
  reasons: readonly string[],
  at: number,
): Promise<Release> {
  const { agent } = receipt
  const canary = await canaryOf(tx, receipt.canary)
  const serving = await servingSince(tx, agent)
  const brought = serving?.parameters.filter((one) => isOf(one, canary)) ?? []
  if (!serving || canary.agent !== agent || brought.length === 0) {
    throw new OtherCanaryError(receipt.id, canary.id, 'nothing that serves came from it')
  }
  const { activation, release } = serving
  await tx.receipts.put(receipt)
  await assertNotPinned(tx, agent)
  const back = await without(tx, serving, brought, at)
  const activated = await activate(tx, activation, back, 'rollback', at)
  const parameters = brought.map(({ parameter }) => parameter)
  const note = { reasons, evidence: { ...receipt.evidence, receipt: receipt.id, parameters } }
  await appendEvent(tx, canary, 'rolled-back', note, at)
  await tell(tx, activation, back, at, { receipt: receipt.id, reason: reasons[0] ?? 'its audit says otherwise now' })
  await activatedBeside(tx, release, activated, back)
  return back
}

/** What serves without the latest promotion that something of it came from; `null` where nothing came from one. */
async function withoutLatest(tx: Repositories, agent: string, at: number): Promise<Release | null> {
  const serving = await servingSince(tx, agent)
  const promoted = serving?.parameters.filter(({ how }) => how === 'promote') ?? []
  if (!serving || promoted.length === 0) return null
  const latest = Math.max(...promoted.map(({ generation }) => generation))
  const brought = promoted.filter(({ generation }) => generation === latest)
  return without(tx, serving, brought, at)
}

/** What serves with some of its Parameters as they were before, as a release. */
function without(
  tx: Repositories,
  { release: { agent }, parameters }: ServingSince,
  brought: readonly CameIn[],
  at: number,
): Promise<Release> {
  const left = parameters.flatMap((one) => (brought.includes(one) ? (one.before ?? []) : one))
  return releaseResting(tx, { agent, versions: setOfParameters(left) }, left, at)
}

const setOfParameters = (all: readonly Pick<CameIn, 'parameter' | 'version'>[]): VersionSet =>
  Object.fromEntries(all.map(({ parameter, version }) => [parameter, version]))

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
